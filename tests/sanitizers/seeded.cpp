// Mistakes on purpose, each in a data structure of the recorder: a sanitizer that does not find
// them would not find real ones.
//
//     seeded race|overflow|undefined
#include <cstdio>
#include <cstring>
#include <thread>

#include "event-log/recorder/address_map.hpp"

using Map = uctrace::log::AddressMap<int, 16>;

static Map* map;

// A key belongs to one thread at a time; here it is two threads'.
static void race() {
  Map::Entry* entry = map->claim(&map);
  std::thread other([=] { ++entry->value; });
  ++entry->value;
  other.join();
}

static void overflow() {
  Map::Entry* volatile last = map->claim(&map);
  while (static_cast<void*>(last) < static_cast<void*>(map + 1)) last = last + 1;
  last->value = 1;
}

static void undefined(int large) {
  map->claim(&map)->value = large * large;
  std::printf("%d\n", map->claim(&map)->value);
}

int main(int count, char** arguments) {
  const char* mistake = count > 1 ? arguments[1] : "";
  map = new Map;
  if (std::strcmp(mistake, "race") == 0) race();
  if (std::strcmp(mistake, "overflow") == 0) overflow();
  if (std::strcmp(mistake, "undefined") == 0) undefined(100000 * count);
  return 0;
}
