#include "log-merger/row-source/row_source.hpp"

namespace uctrace {
namespace {

template <typename Row>
class RowsInMemory final : public TableReader<Row> {
 public:
  explicit RowsInMemory(const std::vector<Row>& rows) : rows_(rows) {}
  std::size_t count() const override { return rows_.size(); }
  std::span<const Row> read(std::size_t first, std::size_t end, const Wanted<Row>&,
                            std::vector<Row>&) const override {
    return std::span(rows_).subspan(first, end - first);
  }

 private:
  const std::vector<Row>& rows_;
};

template <typename Row>
RowSource::Reader<Row> in_memory(const std::vector<Row>& rows) {
  return std::make_shared<RowsInMemory<Row>>(rows);
}

}  // namespace

RowSource::RowSource(const Run& run)
    : run_(std::shared_ptr<const Run>(), &run),
      readers_(in_memory(run.messages), in_memory(run.hops), in_memory(run.transfers),
               in_memory(run.ucp_operations), in_memory(run.mpi_calls), in_memory(run.connections),
               in_memory(run.memory_calls), in_memory(run.library_calls),
               in_memory(run.wait_shares), in_memory(run.waits), in_memory(run.call_dependencies),
               in_memory(run.begun_collectives), in_memory(run.partition_operations),
               in_memory(run.partition_events), in_memory(run.partition_lines),
               in_memory(run.message_sums), in_memory(run.hop_sums), in_memory(run.call_sums),
               in_memory(run.operation_sums), in_memory(run.transfer_sums),
               in_memory(run.path_steps), in_memory(run.traffic_classes),
               in_memory(run.class_steps), in_memory(run.cells), in_memory(run.cell_totals),
               in_memory(run.call_groups), in_memory(run.cell_slabs), in_memory(run.total_slabs),
               in_memory(run.slab_activity), in_memory(run.row_blocks)) {}

RowSource::RowSource(Run head, Readers readers)
    : run_(std::make_shared<const Run>(std::move(head))), readers_(std::move(readers)) {}

}  // namespace uctrace
