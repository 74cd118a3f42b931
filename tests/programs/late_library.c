// A library whose destructor, which comes after uctrace's, does what `late_task` says.
void (*late_task)(void);

__attribute__((destructor)) static void run_late_task(void) {
  if (late_task != 0) late_task();
}
