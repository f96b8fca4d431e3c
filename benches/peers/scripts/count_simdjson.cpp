// Counts lines by type with simdjson's On-Demand, which validates UTF-8 and the members that it passes.

#include <simdjson.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using namespace simdjson;

namespace {

std::map<std::string, unsigned long> counts;

void count(ondemand::parser &parser, const char *line, size_t length, size_t room) {
    ondemand::document document;
    if (parser.iterate(line, length, room).get(document)) return;
    std::string_view kind;
    if (document.find_field_unordered("type").get_string().get(kind)) kind = "null";
    const auto found = counts.find(std::string(kind));
    if (found == counts.end()) {
        counts.emplace(kind, 1);
    } else {
        ++found->second;
    }
}

}  // namespace

int main(int n_arguments, char **arguments) {
    ondemand::parser parser;
    std::vector<char> buffer(1 << 20);
    for (int at = 1; at < n_arguments; ++at) {
        FILE *file = fopen(arguments[at], "rb");
        if (!file) return 1;
        setvbuf(file, nullptr, _IONBF, 0);
        size_t length = 0;
        bool is_last = false;
        while (!is_last) {
            if (buffer.size() - length < SIMDJSON_PADDING + (1 << 18)) buffer.resize(buffer.size() * 2);
            const size_t room = buffer.size() - SIMDJSON_PADDING - length;
            const size_t n_read = fread(buffer.data() + length, 1, room, file);
            is_last = n_read < room;
            length += n_read;
            const char *start = buffer.data();
            const char *end = start + length;
            while (start < end) {
                const char *newline = static_cast<const char *>(memchr(start, '\n', end - start));
                if (!newline && !is_last) break;
                const char *stop = newline ? newline : end;
                count(parser, start, stop - start, buffer.data() + buffer.size() - start);
                start = newline ? newline + 1 : end;
            }
            length = end - start;
            memmove(buffer.data(), start, length);
        }
        fclose(file);
    }
    for (const auto &[kind, n] : counts) printf("%s %lu\n", kind.c_str(), n);
}
