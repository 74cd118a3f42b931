// A library whose destructor, which runs after uctrace's, calls `late_task`.
void (*late_task)(void);

__attribute__((destructor)) static void run_late_task(void) {
  if (late_task != 0) late_task();
}
