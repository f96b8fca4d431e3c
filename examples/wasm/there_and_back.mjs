// Converts each file to each format and back in WebAssembly, and compares the bytes.
// node there_and_back.mjs MODULE.wasm FILE...
import { readFileSync } from "node:fs";

const FORMATS = ["claude-code", "clido", "codex", "pi"];
const [module, ...files] = process.argv.slice(2);
// No imports: the module has no clock, no randomness, and no files.
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const { memory, input, convert, output } = instance.exports;

function converted(bytes, format) {
  const address = input(bytes.length);
  new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
  const length = Number(convert(format));
  const result = Buffer.from(new Uint8Array(memory.buffer, output(), Math.abs(length)));
  if (length < 0) throw new Error(result.toString());
  return result;
}

let [passed, refused, failed] = [0, 0, 0];
for (const file of files) {
  const source = readFileSync(file);
  const own = FORMATS.findIndex((format) => file.includes(`/${format}/`));
  for (const format of FORMATS.keys()) {
    if (format === own) continue;
    try {
      if (converted(converted(source, format), own).equals(source)) {
        passed += 1;
      } else {
        failed += 1;
        console.error(`${file}: to ${FORMATS[format]} and back gives other bytes`);
      }
    } catch (error) {
      // A session of which the target shows nothing needs a sidecar, and so the feature `zstd`.
      if (error.message.includes("a sidecar needs zstd")) {
        refused += 1;
      } else {
        failed += 1;
        console.error(`${file}: to ${FORMATS[format]}: ${error.message}`);
      }
    }
  }
}
console.log(`${refused} refused, because the target shows nothing of them`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
