// Whether the compiler has libFuzzer and the sanitizers.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, decltype(sizeof 0)) { return 0; }
