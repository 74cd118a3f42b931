#include "log-merger/memory/topology.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "event-log/reader/error.hpp"

namespace uctrace {
namespace {

[[noreturn]] void refuse(const char* why) {
  throw Error({.what = "cannot read the topology of a host",
               .why = why,
               .to_do = "record the job again, or remove the file"});
}

// A tag, and the text before it.
struct Tag {
  std::string_view text, name;
  std::map<std::string_view, std::string_view> attributes;
  bool closing = false;  // </name>
  bool empty = false;    // <name/>

  std::string_view operator[](std::string_view attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? std::string_view{} : found->second;
  }
};

// The subset of XML that hwloc writes.
class Xml {
 public:
  explicit Xml(std::string_view text) : rest_(text) {}

  // False: the end.
  bool next(Tag& tag) {
    tag = {};
    while (true) {
      const std::size_t begin = rest_.find('<');
      if (begin == std::string_view::npos) return false;
      tag.text = rest_.substr(0, begin);
      rest_.remove_prefix(begin + 1);
      if (!rest_.starts_with('?') && !rest_.starts_with('!')) break;
      take_until(rest_.starts_with("!--") ? "-->" : ">");  // a declaration, or a comment
    }
    tag.closing = take('/');
    tag.name = take_name();
    while (!at_end_of_tag()) {
      const std::string_view name = take_name();
      if (name.empty() || !take('=')) refuse("it is no XML: an attribute has no value");
      tag.attributes.emplace(name, take_quoted());
    }
    tag.empty = take('/');
    if (tag.name.empty() || !take('>')) refuse("it is no XML: a tag does not end");
    return true;
  }

 private:
  void skip_space() {
    const std::size_t end = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
  }
  bool take(char wanted) {
    skip_space();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view take_name() {
    skip_space();
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n=/><\"'"), rest_.size());
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return name;
  }
  std::string_view take_quoted() {
    skip_space();
    const char quote = rest_.starts_with('\'') ? '\'' : '"';
    if (!take(quote)) refuse("it is no XML: a value has no quotes");
    return take_until(std::string_view(&quote, 1));
  }
  std::string_view take_until(std::string_view end) {
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos) refuse("it is cut");
    const std::string_view taken = rest_.substr(0, at);
    rest_.remove_prefix(at + end.size());
    return taken;
  }
  bool at_end_of_tag() {
    skip_space();
    return rest_.empty() || rest_.starts_with('/') || rest_.starts_with('>');
  }

  std::string_view rest_;
};

// All numbers in a text, whatever is between them.
std::vector<std::uint64_t> numbers_in(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  const char *at = text.data(), *end = at + text.size();
  while (at != end) {
    std::uint64_t number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error == std::errc{}) numbers.push_back(number);
    at = behind == at ? at + 1 : behind;
  }
  return numbers;
}

// "0x00000001,0x80000000": words of 32 bits, the highest first. An infinite one ("0xf...f"), or one
// with more nodes than any machine has, tells nothing.
std::vector<std::uint32_t> members_of(std::string_view bitmap) {
  std::vector<std::uint32_t> words;
  while (!bitmap.empty()) {
    const std::size_t comma = std::min(bitmap.find(','), bitmap.size());
    std::string_view word = bitmap.substr(0, comma);
    bitmap.remove_prefix(std::min(comma + 1, bitmap.size()));
    if (word.starts_with("0x")) word.remove_prefix(2);
    std::uint32_t bits = 0;
    const auto [behind, error] = std::from_chars(word.data(), word.data() + word.size(), bits, 16);
    if (behind != word.data() + word.size() || (error != std::errc{} && !word.empty())) return {};
    words.push_back(bits);
    if (words.size() > 128) return {};
  }
  std::reverse(words.begin(), words.end());
  std::vector<std::uint32_t> members;
  for (std::size_t i = 0; i < 32 * words.size(); ++i) {
    if ((words[i / 32] >> i % 32 & 1) != 0) members.push_back(static_cast<std::uint32_t>(i));
  }
  return members;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

class TopologyReader {
 public:
  Topology read(std::string_view text) {
    Xml xml(text);
    Tag tag;
    if (!xml.next(tag) || tag.name != "topology" || !tag["version"].starts_with("2")) {
      refuse("it is no XML of hwloc 2");
    }
    while (xml.next(tag)) {
      if (tag.closing) {
        close(tag);
      } else {
        open(tag);
        if (tag.empty) close(tag);
      }
    }
    if (!ended_ || topology_.objects_.empty()) refuse("it is cut");
    if (distances_.size() == nodes_.size() * nodes_.size()) {
      topology_.distance_nodes_ = {nodes_.begin(), nodes_.end()};
      topology_.distances_ = distances_;
    }
    return std::move(topology_);
  }

 private:
  using Kind = Topology::Kind;

  static Kind kind_of(const Tag& tag) {
    const std::string_view type = tag["type"];
    if (type == "Bridge") {
      return tag["bridge_type"].starts_with('0') ? Kind::host_bridge : Kind::bridge;
    }
    return type == "PCIDev" ? Kind::device : type == "OSDev" ? Kind::name : Kind::place;
  }

  void open(const Tag& tag) {
    if (tag.name == "object") {
      Topology::Object object;
      object.kind = kind_of(tag);
      object.parent = open_.empty() ? Topology::kNoObject : open_.back();
      if (open_.empty() && !topology_.objects_.empty()) refuse("it has two machines");
      if (object.kind == Kind::device) object.name = lower(tag["pci_busid"]);
      if (object.kind == Kind::name) object.name = tag["name"];
      if (object.kind == Kind::place) object.nodes = members_of(tag["nodeset"]);
      open_.push_back(topology_.objects_.size());
      topology_.objects_.push_back(std::move(object));
    } else if (tag.name == "distances2") {
      // The first one about latencies of NUMA nodes; others may be about bandwidths.
      constexpr std::uint64_t kMeansLatency = 4;
      const auto kind = numbers_in(tag["kind"]);
      in_distances_ = tag["type"] == "NUMANode" && tag["indexing"] == "os" && nodes_.empty() &&
                      !kind.empty() && (kind.front() & kMeansLatency) != 0;
    }
  }

  // Cores and similar objects without devices: most of all objects.
  void forget_if_bare(std::size_t object) {
    const bool last = object + 1 == topology_.objects_.size();
    if (last && object != 0 && topology_.objects_[object].kind == Kind::place) {
      topology_.objects_.pop_back();
    }
  }

  void close(const Tag& tag) {
    if (tag.name == "object") {
      if (open_.empty()) refuse("it is no XML: its tags do not fit");
      forget_if_bare(open_.back());
      open_.pop_back();
    } else if (tag.name == "topology") {
      ended_ = open_.empty();
    } else if (tag.name == "distances2") {
      in_distances_ = false;
    } else if (in_distances_ && (tag.name == "indexes" || tag.name == "u64values")) {
      const auto numbers = numbers_in(tag.text);
      auto& list = tag.name == "indexes" ? nodes_ : distances_;
      list.insert(list.end(), numbers.begin(), numbers.end());
    }
  }

  Topology topology_;
  std::vector<std::size_t> open_;
  std::vector<std::uint64_t> nodes_, distances_;
  bool in_distances_ = false, ended_ = false;
};

Topology Topology::parse(std::string_view xml) { return TopologyReader().read(xml); }

std::optional<Topology::Device> Topology::at_bus(std::string_view bus) const {
  const std::string wanted = lower(bus);
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    if (objects_[i].kind == Kind::device && objects_[i].name == wanted) return i;
  }
  return std::nullopt;
}

std::optional<Topology::Device> Topology::named(std::string_view name) const {
  for (const Object& object : objects_) {
    if (object.kind != Kind::name || object.name != name) continue;
    std::size_t at = object.parent;
    while (at != kNoObject && objects_[at].kind != Kind::device) at = objects_[at].parent;
    if (at != kNoObject) return at;
  }
  return std::nullopt;
}

std::size_t Topology::place_of(std::size_t object) const {
  while (objects_[object].kind != Kind::place && objects_[object].parent != kNoObject) {
    object = objects_[object].parent;
  }
  return object;
}

std::int32_t Topology::numa_node_of(Device device) const {
  const std::vector<std::uint32_t>& nodes = objects_[place_of(device)].nodes;
  return nodes.size() == 1 ? static_cast<std::int32_t>(nodes.front()) : -1;
}

Distance Topology::distance(Device a, Device b) const {
  std::map<std::size_t, std::size_t> above_a;  // and the number of bridges on the way
  std::size_t bridges = 0;
  for (std::size_t at = a; at != kNoObject; at = objects_[at].parent) {
    above_a[at] = bridges;
    bridges += objects_[at].kind == Kind::bridge;
  }
  bridges = 0;
  std::size_t common = b;
  while (common != kNoObject && !above_a.contains(common)) {
    bridges += objects_[common].kind == Kind::bridge;
    common = objects_[common].parent;
  }
  if (common == kNoObject) return Distance::unknown;
  switch (objects_[common].kind) {
    case Kind::device:
    case Kind::name:
      return Distance::pix;
    case Kind::bridge:
      // The two downstream ports of one switch count as one bridge.
      return std::max(bridges, above_a[common]) <= 1 ? Distance::pix : Distance::pxb;
    case Kind::host_bridge:
      return Distance::phb;
    case Kind::place:
      break;
  }
  const std::size_t at_a = place_of(a), at_b = place_of(b);
  const auto &nodes_a = objects_[at_a].nodes, &nodes_b = objects_[at_b].nodes;
  // A device attached to a whole machine with several nodes may be at any of them.
  const bool at_one = nodes_a.size() == 1 || (at_a == at_b && !is_whole_machine(at_a));
  if (nodes_a == nodes_b && at_one) return Distance::node;
  const bool overlap = std::find_first_of(nodes_a.begin(), nodes_a.end(), nodes_b.begin(),
                                          nodes_b.end()) != nodes_a.end();
  return overlap || nodes_a.empty() || nodes_b.empty() ? Distance::unknown : Distance::sys;
}

std::int32_t Topology::numa_distance(std::int32_t a, std::int32_t b) const {
  const auto index_of = [&](std::int32_t node) {
    const auto found =
        std::find(distance_nodes_.begin(), distance_nodes_.end(), static_cast<std::uint32_t>(node));
    return static_cast<std::size_t>(found - distance_nodes_.begin());
  };
  const std::size_t size = distance_nodes_.size(), i = index_of(a), j = index_of(b);
  if (a < 0 || b < 0 || i == size || j == size) return -1;
  const std::uint64_t value = distances_[i * size + j];
  return value <= INT32_MAX ? static_cast<std::int32_t>(value) : -1;
}

}  // namespace uctrace
