#include "log-merger/page-data/packed_slabs.hpp"

namespace uctrace {

namespace {

PackedTable messages_table(const SlabTables& slabs) {
  PackedTable table{"slab_cells",
                    {{"slab", Coding::differences, {}},
                     {"cell", Coding::values, {}},
                     {"messages", Coding::values, {}},
                     {"bytes", Coding::values, {}},
                     {"timed", Coding::values, {}},
                     {"ns", Coding::values, {}}}};
  for (const CellSlab& row : slabs.cell_slabs) {
    append(table, {row.slab, row.cell, number(row.messages), number(row.bytes), number(row.timed),
                   number(row.ns)});
  }
  return table;
}

PackedTable paths_table(const SlabTables& slabs) {
  PackedTable table{"slab_transfers",
                    {{"slab", Coding::differences, {}},
                     {"total", Coding::values, {}},
                     {"count", Coding::values, {}},
                     {"bytes", Coding::values, {}},
                     {"wire_bytes", Coding::values, {}}}};
  for (const TotalSlab& row : slabs.total_slabs) {
    append(table, {row.slab, row.total, number(row.count), number(row.payload_bytes),
                   number(row.wire_bytes)});
  }
  return table;
}

std::int32_t key_of(const SlabActivity& row) {
  switch (row.layer) {
    case ActivityLayer::mpi:
      return row.call_group;
    case ActivityLayer::ucp:
      return row.cell;
    case ActivityLayer::uct:
      return row.total;
  }
  return -1;
}

PackedTable activity_table(const SlabTables& slabs, ActivityLayer layer) {
  PackedTable table{std::string(name_of(layer)) + "_activity",
                    {{"process", Coding::differences, {}},
                     {"key", Coding::differences, {}},
                     {"slab", Coding::differences, {}},
                     {"length", Coding::values, {}},
                     {"busy_ns", Coding::values, {}},
                     {"starts", Coding::values, {}}}};
  for (const SlabActivity& row : slabs.slab_activity) {
    if (row.layer != layer) continue;
    append(table,
           {row.process, key_of(row), row.slab, row.length, row.busy_ns, number(row.starts)});
  }
  return table;
}

}  // namespace

std::vector<PackedTable> pack_slabs(const SlabTables& slabs) {
  std::vector<PackedTable> tables{messages_table(slabs), paths_table(slabs)};
  for (const auto layer : {ActivityLayer::mpi, ActivityLayer::ucp, ActivityLayer::uct}) {
    tables.push_back(activity_table(slabs, layer));
  }
  return tables;
}

}  // namespace uctrace
