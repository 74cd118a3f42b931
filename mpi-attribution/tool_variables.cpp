#include "mpi-attribution/tool_variables.hpp"

namespace uctrace::mpi {

using Of = UctraceFlavour;

constinit const PerformanceVariable performance_variables[kPerformanceVariables] = {
    {"pml_monitoring_flush",
     "The name of the file that a profile is written to when the variable is stopped, without its "
     "ending "
     ".RANK.prof",
     &Of::t_generic, Told::profile, false},
    {"pml_monitoring_messages_count", "Messages that point-to-point calls sent to each peer",
     &Of::t_size, Told::external, false},
    {"pml_monitoring_messages_size", "Bytes that point-to-point calls sent to each peer",
     &Of::t_size, Told::external, true},
    {"osc_monitoring_messages_sent_count", "One-sided operations that put data to each peer",
     &Of::t_size, Told::one_sided_sent, false},
    {"osc_monitoring_messages_sent_size", "Bytes that one-sided operations put to each peer",
     &Of::t_size, Told::one_sided_sent, true},
    {"osc_monitoring_messages_recv_count", "One-sided operations that got data from each peer",
     &Of::t_size, Told::one_sided_received, false},
    {"osc_monitoring_messages_recv_size", "Bytes that one-sided operations got from each peer",
     &Of::t_size, Told::one_sided_received, true},
    {"coll_monitoring_messages_count", "Messages that collective calls mean for each peer",
     &Of::t_size, Told::collective, false},
    {"coll_monitoring_messages_size", "Bytes that collective calls mean for each peer", &Of::t_size,
     Told::collective, true},
    {"coll_monitoring_o2a_count", "One-to-all calls on a communicator", &Of::t_counter,
     Told::one_to_all, false},
    {"coll_monitoring_o2a_size", "Bytes of one-to-all calls on a communicator", &Of::t_aggregate,
     Told::one_to_all, true},
    {"coll_monitoring_a2o_count", "All-to-one calls on a communicator", &Of::t_counter,
     Told::all_to_one, false},
    {"coll_monitoring_a2o_size", "Bytes of all-to-one calls on a communicator", &Of::t_aggregate,
     Told::all_to_one, true},
    {"coll_monitoring_a2a_count", "All-to-all calls on a communicator", &Of::t_counter,
     Told::all_to_all, false},
    {"coll_monitoring_a2a_size", "Bytes of all-to-all calls on a communicator", &Of::t_aggregate,
     Told::all_to_all, true},
};

constinit const ControlVariable control_variables[kControlVariables] = {
    {"pml_monitoring_enable",
     "0: the variables of monitoring stay as they are; other values: they count", false},
    {"pml_monitoring_enable_output",
     "What MPI_Finalize writes a profile to. 0: none is written; 1: standard output; 2: standard "
     "error; "
     "other values: the file of pml_monitoring_filename",
     false},
    {"pml_monitoring_filename", "The name of a profile, without its ending .RANK.prof", true},
};

}  // namespace uctrace::mpi
