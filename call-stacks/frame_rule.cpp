// A reader of .eh_frame, as far as FrameRule needs it. The tables are those of loaded code, which
// the program itself relies on for exceptions; a rule that is not understood is `unknown`.
#include "call-stacks/frame_rule.hpp"

#include <cstddef>
#include <cstring>

// libgcc's, which every C++ program uses: the entry (FDE) for an address, and where its code
// begins.
struct dwarf_eh_bases {
  void* tbase;
  void* dbase;
  void* func;
};
extern "C" const void* _Unwind_Find_FDE(void* pc, dwarf_eh_bases* bases);

namespace uctrace::stacks {
namespace {

// Numbers of registers in DWARF.
#if defined(__x86_64__)
constexpr std::uint64_t kFramePointer = 6, kStackPointer = 7, kReturnAddress = 16;
#elif defined(__aarch64__)
constexpr std::uint64_t kFramePointer = 29, kStackPointer = 31, kReturnAddress = 30;
#else
#error "call-stacks: the registers of this processor are not known"
#endif

class Bytes {
 public:
  Bytes(const unsigned char* at, const unsigned char* end) : at_(at), end_(end) {}

  bool empty() const { return at_ >= end_; }
  const unsigned char* at() const { return at_; }

  template <typename Value>
  Value fixed() {
    Value value{};
    if (static_cast<std::size_t>(end_ - at_) < sizeof value) {
      at_ = end_;
      return value;
    }
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t unsigned_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !empty(); shift += 7) {
      const unsigned char byte = *at_++;
      value |= shift < 64 ? (byte & std::uint64_t{0x7f}) << shift : 0;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !empty();) {
      const unsigned char byte = *at_++;
      value |= shift < 64 ? (byte & std::uint64_t{0x7f}) << shift : 0;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      break;
    }
    return static_cast<std::int64_t>(value);
  }
  Bytes block() {
    const std::uint64_t length = unsigned_leb();
    const auto left = static_cast<std::uint64_t>(end_ - at_);
    const unsigned char* from = at_;
    at_ += length < left ? length : left;
    return {from, at_};
  }
  // A pointer in the encoding of the tables; only its size matters here. False: an unknown
  // encoding.
  bool skip_encoded(unsigned char encoding) {
    switch (encoding & 0x0f) {
      case 0x00:  // a whole word
      case 0x04:
      case 0x0c:
        fixed<std::uint64_t>();
        return true;
      case 0x02:
      case 0x0a:
        fixed<std::uint16_t>();
        return true;
      case 0x03:
      case 0x0b:
        fixed<std::uint32_t>();
        return true;
      default:
        return encoding == 0xff;  // omitted
    }
  }

 private:
  const unsigned char* at_;
  const unsigned char* end_;
};

// The part that entries share (CIE).
struct Common {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  unsigned char pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool understood = false;
  Bytes instructions{nullptr, nullptr};
};

const unsigned char* entry_end(const unsigned char* entry) {
  std::uint32_t length;
  std::memcpy(&length, entry, sizeof length);
  return length == 0xffffffff ? nullptr : entry + sizeof length + length;
}

Common read_common(const unsigned char* cie) {
  Common common;
  const unsigned char* end = entry_end(cie);
  if (end == nullptr) return common;
  Bytes bytes(cie + 8, end);
  const auto version = bytes.fixed<unsigned char>();
  const auto* augmentation = reinterpret_cast<const char*>(bytes.at());
  while (bytes.fixed<char>() != '\0' && !bytes.empty()) {
  }
  if (version >= 4) bytes.fixed<std::uint16_t>();  // sizes of addresses and segments
  common.code_alignment = bytes.unsigned_leb();
  common.data_alignment = bytes.signed_leb();
  const std::uint64_t return_register =
      version == 1 ? bytes.fixed<unsigned char>() : bytes.unsigned_leb();
  if (return_register != kReturnAddress) return common;
  common.understood = *augmentation == '\0' || *augmentation == 'z';
  if (*augmentation == 'z') {
    common.has_augmentation_data = true;
    Bytes data = bytes.block();
    for (const char* letter = augmentation + 1; *letter != '\0'; ++letter) {
      if (*letter == 'R') {
        common.pointer_encoding = data.fixed<unsigned char>();
      } else if (*letter == 'P') {
        const auto encoding = data.fixed<unsigned char>();
        common.understood = common.understood && data.skip_encoded(encoding);
      } else if (*letter == 'L') {
        data.fixed<unsigned char>();
      } else if (*letter != 'B') {
        common.understood = false;  // 'S': a frame that the kernel made for a signal
      }
    }
  }
  common.instructions = Bytes(bytes.at(), end);
  return common;
}

// Follows the instructions of the tables up to `pc`.
class RuleMachine {
 public:
  RuleMachine(const Common& common, std::uintptr_t begin, std::uintptr_t pc)
      : common_(common), location_(begin), pc_(pc) {}

  // False: an instruction is not understood.
  bool follow(Bytes bytes) {
    while (!bytes.empty() && location_ <= pc_) {
      if (!step(bytes)) return false;
    }
    return true;
  }
  void keep_as_initial() { initial_ = rule_; }
  const FrameRule& rule() const { return rule_; }

 private:
  bool step(Bytes& bytes) {
    const auto code = bytes.fixed<unsigned char>();
    const unsigned char low = code & 0x3f;
    switch (code >> 6) {
      case 1:
        return advance(low);
      case 2:
        set_saved(low, bytes.unsigned_leb());
        return true;
      case 3:
        restore(low);
        return true;
      default:
        return step_extended(low, bytes);
    }
  }

  bool step_extended(unsigned char code, Bytes& bytes) {
    switch (code) {
      case 0x00:  // nop
        return true;
      case 0x02:
        return advance(bytes.fixed<std::uint8_t>());
      case 0x03:
        return advance(bytes.fixed<std::uint16_t>());
      case 0x04:
        return advance(bytes.fixed<std::uint32_t>());
      case 0x05: {  // offset_extended
        const std::uint64_t reg = bytes.unsigned_leb();
        set_saved(reg, bytes.unsigned_leb());
        return true;
      }
      case 0x06:
        restore(bytes.unsigned_leb());
        return true;
      case 0x07: {  // undefined
        const std::uint64_t reg = bytes.unsigned_leb();
        if (reg == kReturnAddress) rule_.base = FrameRule::Base::outermost;
        return reg != kFramePointer;
      }
      case 0x08:  // same_value
        return bytes.unsigned_leb() != kReturnAddress;
      case 0x09: {  // register
        const std::uint64_t reg = bytes.unsigned_leb();
        bytes.unsigned_leb();
        return reg != kReturnAddress && reg != kFramePointer;
      }
      case 0x0a:
        return remember();
      case 0x0b:
        if (depth_ == 0) return false;
        rule_ = remembered_[--depth_];
        return true;
      case 0x0c: {  // def_cfa
        const std::uint64_t reg = bytes.unsigned_leb();
        rule_.offset = static_cast<std::int64_t>(bytes.unsigned_leb());
        set_base(reg);
        return true;
      }
      case 0x0d:
        set_base(bytes.unsigned_leb());
        return true;
      case 0x0e:
        rule_.offset = static_cast<std::int64_t>(bytes.unsigned_leb());
        return true;
      case 0x0f:
        set_base_expression(bytes.block());
        return true;
      case 0x10: {  // expression
        const std::uint64_t reg = bytes.unsigned_leb();
        return set_saved_expression(reg, bytes.block());
      }
      case 0x11: {  // offset_extended_sf
        const std::uint64_t reg = bytes.unsigned_leb();
        set_saved(reg, static_cast<std::uint64_t>(bytes.signed_leb()));
        return true;
      }
      case 0x12: {  // def_cfa_sf
        const std::uint64_t reg = bytes.unsigned_leb();
        rule_.offset = bytes.signed_leb() * common_.data_alignment;
        set_base(reg);
        return true;
      }
      case 0x13:
        rule_.offset = bytes.signed_leb() * common_.data_alignment;
        return true;
      case 0x2d:  // aarch64: return addresses are signed from here on, or no longer
        return true;
      case 0x2e:  // GNU_args_size
        bytes.unsigned_leb();
        return true;
      case 0x16: {  // val_expression: of registers that do not matter here
        const std::uint64_t reg = bytes.unsigned_leb();
        bytes.block();
        return reg != kReturnAddress && reg != kFramePointer;
      }
      default:
        return false;
    }
  }

  bool advance(std::uint64_t by) {
    location_ += by * common_.code_alignment;
    return true;
  }

  bool remember() {
    if (depth_ == kDepth) return false;
    remembered_[depth_++] = rule_;
    return true;
  }

  void set_base(std::uint64_t reg) {
    rule_.base = reg == kStackPointer   ? FrameRule::Base::stack_pointer
                 : reg == kFramePointer ? FrameRule::Base::frame_pointer
                                        : FrameRule::Base::unknown;
  }

  // Code that aligns its stack keeps the end of its frame in a separate word: `DW_OP_breg<frame
  // pointer> offset; DW_OP_deref`.
  void set_base_expression(Bytes block) {
    rule_.base = FrameRule::Base::unknown;
    if (block.fixed<unsigned char>() != 0x70 + kFramePointer) return;
    const std::int64_t offset = block.signed_leb();
    if (block.fixed<unsigned char>() != 0x06 || !block.empty()) return;
    rule_.base = FrameRule::Base::stored;
    rule_.offset = offset;
  }

  // Where a register was saved, as an expression: `DW_OP_breg<frame pointer> offset`.
  bool set_saved_expression(std::uint64_t reg, Bytes block) {
    if (reg != kFramePointer) return reg != kReturnAddress;
    if (block.fixed<unsigned char>() != 0x70 + kFramePointer) return false;
    rule_.frame_pointer_saved = FrameRule::Saved::at_frame_pointer;
    rule_.frame_pointer_at = block.signed_leb();
    return block.empty();
  }

  void set_saved(std::uint64_t reg, std::uint64_t factored) {
    const std::int64_t at = static_cast<std::int64_t>(factored) * common_.data_alignment;
    if (reg == kFramePointer) {
      rule_.frame_pointer_saved = FrameRule::Saved::at_end;
      rule_.frame_pointer_at = at;
    } else if (reg == kReturnAddress) {
      rule_.return_address_at = at;
    }
  }

  void restore(std::uint64_t reg) {
    if (reg == kFramePointer) {
      rule_.frame_pointer_saved = initial_.frame_pointer_saved;
      rule_.frame_pointer_at = initial_.frame_pointer_at;
    } else if (reg == kReturnAddress) {
      rule_.return_address_at = initial_.return_address_at;
    }
  }

  static constexpr std::size_t kDepth = 8;

  const Common& common_;
  std::uintptr_t location_, pc_;
  FrameRule rule_, initial_;
  FrameRule remembered_[kDepth];
  std::size_t depth_ = 0;
};

}  // namespace

FrameRule frame_rule(std::uintptr_t pc) {
  dwarf_eh_bases bases{};
  const auto* fde =
      static_cast<const unsigned char*>(_Unwind_Find_FDE(reinterpret_cast<void*>(pc), &bases));
  FrameRule unknown;
  if (fde == nullptr) return unknown;
  unknown.base = FrameRule::Base::unknown;
  const unsigned char* end = entry_end(fde);
  std::int32_t to_common;
  std::memcpy(&to_common, fde + 4, sizeof to_common);
  const Common common = read_common(fde + 4 - to_common);
  if (end == nullptr || !common.understood) return unknown;

  Bytes bytes(fde + 8, end);
  if (!bytes.skip_encoded(common.pointer_encoding) ||
      !bytes.skip_encoded(common.pointer_encoding)) {
    return unknown;
  }
  if (common.has_augmentation_data) bytes.block();
  RuleMachine machine(common, reinterpret_cast<std::uintptr_t>(bases.func), pc);
  if (!machine.follow(common.instructions)) return unknown;
  machine.keep_as_initial();
  return machine.follow(bytes) ? machine.rule() : unknown;
}

}  // namespace uctrace::stacks
