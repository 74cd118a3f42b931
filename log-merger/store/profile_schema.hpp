// The tables of profile.db. Private to profile_db.cpp; docs/profile.md explains them.
#pragma once

namespace uctrace {

// Exactly those of mpisee 4.1: its script queries them.
inline constexpr char kMpiseeTables[] = R"(
CREATE TABLE mappings(id INTEGER PRIMARY KEY AUTOINCREMENT, machine TEXT);
CREATE TABLE exectimes(id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL);
CREATE TABLE metadata(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE operations(id INTEGER PRIMARY KEY AUTOINCREMENT, operation TEXT);
CREATE TABLE comms(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, size INTEGER);
CREATE TABLE data(id INTEGER PRIMARY KEY AUTOINCREMENT, rank INTEGER, comm_id INTEGER,
  operation_id INTEGER, buffer_size_min INTEGER, buffer_size_max INTEGER, calls INTEGER, time REAL,
  volume INTEGER, FOREIGN KEY(operation_id) REFERENCES operations(id),
  FOREIGN KEY(comm_id) REFERENCES comms(id), FOREIGN KEY(rank) REFERENCES mappings(id));
)";

inline constexpr char kOwnTables[] = R"(
CREATE TABLE processes(id INTEGER PRIMARY KEY REFERENCES mappings, world INTEGER, rank INTEGER,
  host TEXT, pid INTEGER, key TEXT, exec_time REAL, mpi_time REAL);
CREATE TABLE communicators(id INTEGER PRIMARY KEY REFERENCES comms, user_name TEXT, function TEXT,
  parent_id INTEGER REFERENCES comms, world INTEGER, leader INTEGER, remote_world INTEGER,
  remote_leader INTEGER, remote_size INTEGER, complete INTEGER, created_ns INTEGER,
  freed_ns INTEGER);
CREATE TABLE members(comm_id INTEGER REFERENCES comms, remote INTEGER, first INTEGER,
  stride INTEGER, count INTEGER);
CREATE TABLE call_sites(id INTEGER PRIMARY KEY, label TEXT, function TEXT, file TEXT, line INTEGER,
  module TEXT);
CREATE TABLE datatypes(id INTEGER PRIMARY KEY, name TEXT, combiner TEXT, size INTEGER,
  extent INTEGER, contiguous INTEGER);
CREATE TABLE calls(comm_id INTEGER REFERENCES comms, operation_id INTEGER REFERENCES operations,
  rank INTEGER REFERENCES processes, peer INTEGER, call_site_id INTEGER REFERENCES call_sites,
  send_bytes INTEGER, recv_bytes INTEGER, datatype_id INTEGER REFERENCES datatypes,
  recv_datatype_id INTEGER REFERENCES datatypes, calls INTEGER, time REAL, time_min REAL,
  time_max REAL);
CREATE TABLE peers(comm_id INTEGER REFERENCES comms, operation_id INTEGER REFERENCES operations,
  rank INTEGER REFERENCES processes, peer INTEGER REFERENCES processes, messages INTEGER,
  bytes INTEGER);
CREATE TABLE transports(comm_id INTEGER REFERENCES comms,
  operation_id INTEGER REFERENCES operations, rank INTEGER REFERENCES processes,
  peer INTEGER REFERENCES processes, transport TEXT, device TEXT, remote_device TEXT,
  uct_operation TEXT, role TEXT, transfers INTEGER, bytes INTEGER, wire_bytes INTEGER);
CREATE VIEW v_operations AS SELECT o.operation, sum(c.calls) AS calls, sum(c.time) AS time,
  sum(c.calls * c.send_bytes) AS send_bytes, sum(c.calls * c.recv_bytes) AS recv_bytes
  FROM calls c JOIN operations o ON o.id = c.operation_id GROUP BY o.id;
CREATE VIEW v_communicators AS SELECT m.name, m.size, sum(c.calls) AS calls, sum(c.time) AS time,
  sum(c.calls * c.send_bytes) AS send_bytes, sum(c.calls * c.recv_bytes) AS recv_bytes
  FROM calls c JOIN comms m ON m.id = c.comm_id GROUP BY m.id;
)";

}  // namespace uctrace
