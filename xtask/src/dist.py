"""Makes the files of a release, and tries each of them in an empty folder.

usage: dist.py ROOT TARGET SCRATCH

In: the sources. Out: below TARGET/artifacts a static program in an archive, a package for Debian, a wheel, and
SHA256SUMS. All times in them are the time of the last commit. The tools are beside the Python that runs this.
"""

import base64
import csv
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

TRIPLE = "x86_64-unknown-linux-musl"
GLIBC_TRIPLE = "x86_64-unknown-linux-gnu"
# The oldest glibc that the wheel runs with.
GLIBC = "manylinux2014"
SHELLS = {"bash": "{}.bash", "zsh": "_{}", "fish": "{}.fish", "elvish": "{}.elv", "powershell": "{}.ps1"}
# The name in the package for Debian, where ImageMagick has a program `convert`.
DEBIAN_NAME = "session-convert"
LICENSES = ["LICENSE-MIT", "LICENSE-APACHE"]
THIRD_PARTY = "LICENSES-THIRD-PARTY.txt"


class Dist:
    def __init__(self, root, target, scratch):
        self.root, self.target, self.scratch = Path(root), Path(target), Path(scratch)
        self.tools = Path(sys.executable).parent
        self.out = self.target / "artifacts"
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        self.version = re.search(r'^version = "(.*)"', (self.root / "Cargo.toml").read_text(), re.M)[1]
        self.time = int(self.read("git", "log", "-1", "--format=%ct"))
        self.temporary = {str(self.scratch)}
        self.prefixes = self.paths_of_this_machine()

    def read(self, *command):
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=self.root).stdout.strip()

    def paths_of_this_machine(self):
        """Returns the folders that compilers may write into a file, with the names that replace them."""
        home = Path.home()
        cargo = Path(os.environ.get("CARGO_HOME", home / ".cargo"))
        return {
            str(self.root): "convert",
            str(self.target): "target",
            str(cargo): "cargo",
            self.read("rustc", "--print", "sysroot"): "rust",
            str(self.scratch): "scratch",
            **({str(home): "home"} if len(home.parts) > 1 else {}),
        }

    def environment(self):
        # The last prefix that fits counts, so the longest comes last.
        prefixes = sorted(self.prefixes.items(), key=lambda it: len(it[0]))
        # Nothing is compiled in the temporary folder, and its name would build everything again each time.
        prefixes = [(path, name) for path, name in prefixes if path not in self.temporary]
        flags = [f"--remap-path-prefix={path}={name}" for path, name in prefixes]
        c_flags = " ".join(f"-ffile-prefix-map={path}={name}" for path, name in prefixes)
        environment = {
            **os.environ,
            "PATH": f"{self.tools}{os.pathsep}{os.environ['PATH']}",
            "CARGO_TARGET_DIR": str(self.target),
            "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags),
            "CARGO_PROFILE_DIST_STRIP": "symbols",
            "SOURCE_DATE_EPOCH": str(self.time),
        }
        for triple in [TRIPLE, GLIBC_TRIPLE]:
            environment[f"CFLAGS_{triple.replace('-', '_')}"] = c_flags
        return environment

    def build(self, *command, where="."):
        print("dist:", *command, flush=True)
        subprocess.run(command, check=True, cwd=self.root / where, env=self.environment())

    def program(self):
        """Builds the static program and returns its path."""
        self.build("cargo", "zigbuild", "--quiet", "--locked", "--profile", "dist", "-p", "sessionlog-convert",
                   "--features", "parquet", "--target", TRIPLE)
        built = self.target / TRIPLE / "dist/convert"
        program = self.scratch / "convert"
        shutil.copy(built, program)
        self.check_paths("the program", program.read_bytes())
        return program

    def check_paths(self, what, data):
        """Stops if a file has the path of a folder of this machine."""
        for path in self.prefixes:
            # With a slash: a source may be named like the folder, such as `root.rs`.
            if (at := data.find(f"{path}/".encode())) >= 0:
                raise SystemExit(f"dist: {what} has a path of this machine: {data[at:at + 120]!r}")

    def licenses(self, manifest, *options):
        """Returns the licenses of all crates in a build, each text once."""
        command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", manifest]
        found = json.loads(self.read(*command, "--filter-platform", TRIPLE, *options))
        packages = {it["id"]: it for it in found["packages"]}
        nodes = {it["id"]: it for it in found["resolve"]["nodes"]}
        folder = (self.root / manifest).parent.resolve()
        [start] = [it["id"] for it in found["packages"] if Path(it["manifest_path"]).parent.resolve() == folder]
        seen, open_ids = {start}, [start]
        while open_ids:
            for dep in nodes[open_ids.pop()]["deps"]:
                if dep["pkg"] not in seen and any(kind["kind"] is None for kind in dep["dep_kinds"]):
                    seen.add(dep["pkg"])
                    open_ids.append(dep["pkg"])
        texts = {}
        for package in sorted((packages[it] for it in seen), key=lambda it: it["name"]):
            if package["source"] is None:
                continue
            name = f"{package['name']} {package['version']} ({package['license'] or 'see its text'})"
            folder = Path(package["manifest_path"]).parent
            files = sorted(it for it in folder.iterdir() if re.match(r"(?i)(licen[cs]e|copying|notice|unlicense)", it.name))
            files = [it for it in files if it.is_file()]
            for file in files:
                texts.setdefault(file.read_text(errors="replace").strip(), []).append(name)
            if not files:
                texts.setdefault("The crate has no license file; the license is in its manifest.", []).append(name)
        sysroot = Path(self.read("rustc", "--print", "sysroot"))
        for name, file in [
            ("The standard library of Rust (MIT OR Apache-2.0)", sysroot / "share/doc/rust/COPYRIGHT"),
            ("musl, in the static program (MIT)", self.musl_license()),
        ]:
            text = file.read_text(errors="replace").strip() if file and file.is_file() else "Its license is named above."
            texts.setdefault(text, []).append(name)
        parts = ["\n".join(sorted(set(names))) + "\n\n" + text for text, names in texts.items()]
        return ("\n\n" + "=" * 80 + "\n\n").join(parts) + "\n"

    def musl_license(self):
        return next(self.tools.parent.glob("lib/python*/site-packages/ziglang/lib/libc/musl/COPYRIGHT"), None)

    def pages(self, program):
        """Returns the manual pages of the program and of its commands, by name."""
        pages, waiting = {}, [[]]
        for words in waiting:
            page = run(program, "man", *words)
            pages["-".join(["convert", *words]) + ".1"] = page
            for name in re.findall(r"^convert\\-([a-z\\-]+)\(1\)$", page.decode(), re.M):
                below = name.replace("\\-", "-").split("-")
                if below[-1] != "help":
                    waiting.append(below)
        assert len(pages) > 15, sorted(pages)
        return pages

    def completions(self, program, name):
        """Returns the scripts of the shells, by the name of their file. They call the program by its name."""
        called = self.scratch / "called" / name
        called.parent.mkdir(exist_ok=True)
        shutil.copy(program, called)
        scripts = {}
        for shell, file in SHELLS.items():
            script = run(called, "completions", shell)
            assert str(called).encode() in script
            scripts[file.format(name)] = script.replace(str(called).encode(), name.encode())
        return scripts

    def archive(self, program):
        """Writes the archive with the static program."""
        name = f"convert-{self.version}-{TRIPLE}"
        files = {"convert": (program.read_bytes(), 0o755)}
        for file in [*LICENSES, "README.md", "CHANGELOG.md"]:
            files[file] = ((self.root / file).read_bytes(), 0o644)
        files[THIRD_PARTY] = (self.third_party.encode(), 0o644)
        for file, page in self.pages(program).items():
            files[f"man/man1/{file}"] = (page, 0o644)
        for file, script in self.completions(program, "convert").items():
            files[f"completions/{file}"] = (script, 0o644)
        path = self.out / f"{name}.tar.gz"
        path.write_bytes(packed(self.tar({f"{name}/{file}": it for file, it in files.items()})))
        return path

    def tar(self, files):
        """Returns a tar archive of files, and of their folders, in the order of their names."""
        out = io.BytesIO()
        folders = {str(folder) for name in files for folder in Path(name).parents if str(folder) != "."}
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for name in sorted([*folders, *files]):
                member = tarfile.TarInfo(name)
                member.mtime, member.uname, member.gname = self.time, "root", "root"
                if name in folders:
                    member.type, member.mode = tarfile.DIRTYPE, 0o755
                    tar.addfile(member)
                    continue
                data, member.mode = files[name]
                if isinstance(data, str):
                    member.type, member.linkname = tarfile.SYMTYPE, data
                    tar.addfile(member)
                else:
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))
        return out.getvalue()

    def debian(self, program):
        """Writes the package for Debian."""
        shell_files = self.completions(program, DEBIAN_NAME)
        files = {f"usr/bin/{DEBIAN_NAME}": (program.read_bytes(), 0o755)}
        for file, page in self.pages(program).items():
            page = packed(page)
            files[f"usr/share/man/man1/{file.replace('convert', DEBIAN_NAME, 1)}.gz"] = (page, 0o644)
        files[f"usr/share/bash-completion/completions/{DEBIAN_NAME}"] = (shell_files[f"{DEBIAN_NAME}.bash"], 0o644)
        files[f"usr/share/zsh/vendor-completions/_{DEBIAN_NAME}"] = (shell_files[f"_{DEBIAN_NAME}"], 0o644)
        files[f"usr/share/fish/vendor_completions.d/{DEBIAN_NAME}.fish"] = (shell_files[f"{DEBIAN_NAME}.fish"], 0o644)
        docs = f"usr/share/doc/{DEBIAN_NAME}"
        own = "\n\n".join((self.root / name).read_text() for name in LICENSES)
        files[f"{docs}/copyright"] = (f"MIT or Apache-2.0, at your choice.\n\n{own}\n{self.third_party}".encode(), 0o644)
        files[f"{docs}/changelog.gz"] = (packed((self.root / "CHANGELOG.md").read_bytes()), 0o644)
        size = sum(len(data) for data, _ in files.values()) // 1024
        control = (
            f"Package: {DEBIAN_NAME}\nVersion: {self.version}\nArchitecture: amd64\n"
            "Maintainer: The authors of convert <nobody@localhost>\nSection: utils\nPriority: optional\n"
            f"Installed-Size: {size}\nDescription: translates session logs of AI coding agents into one another\n"
            " It reads and writes the sessions of Claude Code, Codex, pi, Qwen Code, GitHub Copilot CLI and\n"
            " clido, and loses nothing: converting back gives the original file. The program is also called\n"
            " convert, unless another package, such as ImageMagick, has one.\n"
        )
        sums = "".join(f"{hashlib.md5(data).hexdigest()}  {name}\n" for name, (data, _) in sorted(files.items()))
        link = f"update-alternatives --install /usr/bin/convert convert /usr/bin/{DEBIAN_NAME} 1"
        after = f'#!/bin/sh\nset -e\nif [ "$1" = configure ]; then {link}; fi\n'
        unlink = f"update-alternatives --remove convert /usr/bin/{DEBIAN_NAME}"
        before = f'#!/bin/sh\nset -e\nif [ "$1" = remove ]; then {unlink}; fi\n'
        scripts = {"postinst": (after.encode(), 0o755), "prerm": (before.encode(), 0o755)}
        head = {"control": (control.encode(), 0o644), "md5sums": (sums.encode(), 0o644), **scripts}
        members = {
            "debian-binary": b"2.0\n",
            "control.tar.gz": packed(self.tar(head)),
            "data.tar.gz": packed(self.tar(files)),
        }
        path = self.out / f"{DEBIAN_NAME}_{self.version}_amd64.deb"
        with path.open("wb") as out:
            out.write(b"!<arch>\n")
            for name, data in members.items():
                out.write(f"{name:<16}{self.time:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode())
                out.write(data + b"\n" * (len(data) % 2))
        return path

    def wheel(self):
        """Builds the wheel, and adds the licenses of all crates."""
        made = self.scratch / "wheel"
        self.build("maturin", "build", "--quiet", "--locked", "--profile", "dist", "--features", "parquet", "--zig",
                   "--target", GLIBC_TRIPLE, "--compatibility", GLIBC, "--out", str(made), where="python")
        [wheel] = made.glob("*.whl")
        path = self.out / wheel.name
        text = self.licenses("python/Cargo.toml", "--features", "parquet").encode()
        with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
            [record] = [name for name in old.namelist() if name.endswith(".dist-info/RECORD")]
            added = record.replace("RECORD", f"licenses/{THIRD_PARTY}")
            rows = list(csv.reader(io.StringIO(old.read(record).decode())))
            digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
            rows.insert(-1, [added, f"sha256={digest}", str(len(text))])
            for entry in old.infolist():
                data = old.read(entry)
                self.check_paths(entry.filename, data)
                if entry.filename == record:
                    out = io.StringIO()
                    csv.writer(out, lineterminator="\n").writerows(rows)
                    data = out.getvalue().encode()
                    new.writestr(copy_of(entry, added), text)
                new.writestr(copy_of(entry, entry.filename), data)
        return path

    def make(self):
        manifest = "crates/convert/Cargo.toml"
        self.third_party = self.licenses(manifest, "--features", "sessionlog-convert/parquet")
        program = self.program()
        files = [self.archive(program), self.debian(program), self.wheel()]
        sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
        (self.out / "SHA256SUMS").write_text(sums)
        for file, test in zip(files, [self.try_archive, self.try_debian, self.try_wheel]):
            print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB; {test(file)}", flush=True)
        run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=self.out)
        print(f"in {self.out}")

    def converts(self, *program, **how):
        """Converts a fixture there and back with a program, and compares the bytes. The program sees no variables."""
        session = (self.root / "fixtures/sample/fb02d60f-60fc-4f60-a756-f9afd272cd18.jsonl").read_bytes()
        how = {"env": {}, **how}
        there = run(*program, "--to", "clido", input=session, **how)
        back = run(*program, "--to", "claude-code", input=there, **how)
        assert back == session and there != session
        # In a clone of the repository, the commit and its date follow.
        assert run(*program, "--version", **how).decode().split()[1] == self.version

    def try_archive(self, path):
        """Runs the program where there is nothing else: in a changed root if the system allows that."""
        folder = self.scratch / "archive"
        with tarfile.open(path) as tar:
            tar.extractall(folder, filter="data")
        [inside] = folder.iterdir()
        self.converts(inside / "convert")
        self.try_binstall(path.name, f"{inside.name}/convert")
        if os.geteuid() == 0:
            (inside / "tmp").mkdir(mode=0o1777)
            self.converts("/convert", preexec_fn=lambda: (os.chroot(inside), os.chdir("/")))
            return "runs alone in a changed root"
        return "runs from an empty folder"

    def try_binstall(self, archive, program):
        """Compares the names in the metadata for `cargo binstall` with the archive and the program in it."""
        manifest = (self.root / "crates/convert/Cargo.toml").read_text()
        words = {"repo": "", "version": self.version, "target": TRIPLE, "bin": "convert", "binary-ext": ""}
        for name, expected in [("pkg-url", f"/releases/download/v{self.version}/{archive}"), ("bin-dir", program)]:
            template = re.search(f'^{name} = "(.*)"', manifest, re.M)[1]
            named = re.sub(r"\{ ([a-z-]+) \}", lambda word: words[word[1]], template)
            assert named == expected, f"{name} in crates/convert/Cargo.toml is {named}, and the archive has {expected}"

    def try_debian(self, path):
        """Installs the package into an empty root, if the system allows that."""
        folder = self.scratch / "debian"
        if not shutil.which("dpkg-deb"):
            return "not tried, because there is no dpkg-deb"
        program = folder / f"usr/bin/{DEBIAN_NAME}"
        if os.geteuid() != 0:
            run("dpkg-deb", "--extract", path, folder)
            self.converts(program)
            return "extracted by dpkg-deb, runs"
        for name in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/alternatives", "etc/alternatives"]:
            (folder / name).mkdir(parents=True)
        (folder / "var/lib/dpkg/status").touch()
        dpkg = ["dpkg", f"--root={folder}", "--force-script-chrootless"]
        run(*dpkg, "--install", path)
        assert os.readlink(folder / "etc/alternatives/convert") == f"/usr/bin/{DEBIAN_NAME}"
        self.converts(program)
        run(*dpkg, "--remove", DEBIAN_NAME)
        assert not program.exists() and not (folder / "usr/bin/convert").is_symlink()
        return "installed by dpkg into an empty root, runs, removed"

    def try_wheel(self, path):
        venv = self.scratch / "fresh"
        run(sys.executable, "-m", "venv", venv)
        run(venv / "bin/python", "-m", "pip", "install", "--quiet", "--no-index", path)
        for name in ["convert", "session-convert"]:
            self.converts(venv / "bin" / name)
        run(venv / "bin/python", "-c", "import session_convert; session_convert.sessions('.')", cwd=self.root / "fixtures")
        return "installed by pip into a fresh environment, runs"


def copy_of(entry, name):
    """Returns the head of a member of an archive under another name."""
    head = zipfile.ZipInfo(name, entry.date_time)
    head.external_attr, head.compress_type = entry.external_attr, zipfile.ZIP_DEFLATED
    return head


def packed(data):
    return gzip.compress(data, mtime=0)


def run(*command, **how):
    done = subprocess.run([str(word) for word in command], capture_output=True, **how)
    if done.returncode != 0:
        raise SystemExit(f"dist: {command[0]}: status {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


if __name__ == "__main__":
    Dist(*sys.argv[1:]).make()
