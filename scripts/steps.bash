# Steps with a line of progress each; sourced by quickstart and run-tests, from the root of the
# sources. A step's output goes to $step_log; its end is shown only if the step fails.

# run_step TITLE COMMAND...
run_step() {
  local title=$1 started=$SECONDS status=0 dots=0 pid
  shift
  printf '%s ... ' "$title"
  { printf '\n== %s\n' "$title"; "$@"; } >>"$step_log" 2>&1 </dev/null &
  pid=$!
  # A dot every ten seconds shows that a long step is alive.
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - started >= 10 * (dots + 1))); then
      printf '.'
      dots=$((dots + 1))
    fi
  done
  wait "$pid" || status=$?
  if ((status == 0)); then
    printf 'done (%d s)\n' $((SECONDS - started))
    return
  fi
  printf 'failed (status %d); the end of %s:\n\n' "$status" "$step_log"
  tail -n 30 "$step_log"
  exit 1
}

# configure_build OPTION... : sets build/ up, or gives an existing one these options.
configure_build() {
  if [[ -f build/build.ninja ]]; then
    meson configure build "$@"
  else
    meson setup build "$@"
  fi
}
