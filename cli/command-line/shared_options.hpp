// Options that many verbs have.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>

#include "cli/command-line/command_line.hpp"

namespace uctrace::cli {

void add_format(CLI::App& verb, Format& format);
void add_wide(CLI::App& verb, bool& wide);
// Which run, where its merged form is, and with which resources it is merged.
void add_data(CLI::App& verb, DataChoice& data);
void add_job(CLI::App& verb, DataChoice& data);
void add_job(CLI::App& verb, std::string& job, const std::string& help);
void add_span(CLI::App& verb, std::optional<std::uint64_t>& from, std::optional<std::uint64_t>& to);
void add_filter(CLI::App& verb, FilterSpec& filter);

}  // namespace uctrace::cli
