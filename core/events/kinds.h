/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/events/kinds.h - the kinds of events, each once: its name, whether it lasts, what it means.
 *
 * Names are for programs, so that they stay.  fmd-events(7) is made of these rows.  What lasts has
 * an end, which is an event of the same kind with the number of the one that began it.
 */
#ifndef CORE_EVENTS_KINDS_H
#define CORE_EVENTS_KINDS_H

#include <stdbool.h>

/* clang-format off */
#define EVENT_KINDS(X) \
	/* fmd itself */ \
	X(STARTED, "started", false, \
	    "fmd has started. What had begun before and has not ended is told anew where it " \
	    "is so still.") \
	X(STOPPED, "stopped", false, "fmd was stopped by a signal.") \
	X(CONF_RELOADED, "config-reloaded", false, "A new configuration is in force.") \
	X(CONF_REFUSED, "config-refused", false, \
	    "A new configuration was not taken, and the old one stays.") \
	X(CONF_IN_PART, "config-in-part", false, \
	    "A part of a new configuration is not in force: it needs a restart, or would " \
	    "move LIDs that are in use.") \
	X(OTHER_PORT, "other-port", false, \
	    "The port that fmd worked on has lost its link, and fmd goes on by another one.") \
	X(ISOLATED, "isolated", false, "An administrator has taken cables out of routing.") \
	X(RESTORED, "restored", false, "Cables that were isolated, or flapped, are used again.") \
	X(QUARANTINED, "quarantined", false, \
	    "A bad cable has been taken out of routing (health_action).") \
	X(NOT_QUARANTINED, "not-quarantined", false, \
	    "A bad cable stays in use, as it is not safe to take it out.") \
	X(QUARANTINE_ENDED, "quarantine-ended", false, \
	    "A quarantined cable has been quiet for two hours, and is used again.") \
	X(EVENTS_NOT_KEPT, "events-not-kept", true, \
	    "Events are not written to the state folder, and would be lost by a restart.") \
	X(EVENTS_DAMAGED, "events-damaged", false, \
	    "The file of events held something that is no event, and it was passed over.") \
	/* who rules */ \
	X(BECAME_MASTER, "became-master", false, \
	    "This SM is master, and has brought the subnet up.") \
	X(STANDING_BY, "standing-by", false, \
	    "Another SM is or will be master. What had begun before and has not ended is not " \
	    "followed any longer.") \
	X(SM_NOT_ACTIVE, "sm-not-active", false, \
	    "This SM was told to stay out, and writes nothing.") \
	X(HANDOVER, "handover", true, \
	    "The subnet is handed over to another SM by fmctl handover; the end says how " \
	    "that went.") \
	X(OTHER_SM, "other-sm", false, \
	    "Another SM is on the subnet that is not stood by for, or rules where it should " \
	    "not.") \
	X(SM_GIVEN_UP, "sm-given-up", false, "An SM that was waited for is given up.") \
	X(RULE_DOUBTED, "rule-doubted", false, \
	    "It is not known whether this SM is master still: nothing is sent before that is " \
	    "clear.") \
	X(COPY_WHOLE, "copy-whole", false, \
	    "The copy that this standby has of the master is whole.") \
	X(COPY_LOST, "copy-lost", true, "A standby has no copy of this master any more.") \
	X(COPY_BEHIND, "copy-behind", true, \
	    "A standby has not acknowledged changes for 5 s: no answer waits for it.") \
	X(COPY_REFUSED, "copy-refused", false, "A standby asked for a copy and gets none.") \
	X(COPY_IN_PART, "copy-in-part", false, \
	    "This SM has taken over from a master of which its copy was not whole.") \
	/* sweeps */ \
	X(SUBNET_UP, "subnet-up", false, "A sweep has brought the subnet up, or changed it.") \
	X(SWEEP_FAILED, "sweep-failed", true, \
	    "A sweep has failed: what was up before stays up.") \
	X(NO_LINK, "no-link", true, "The port that fmd works on has no link.") \
	X(NO_PATH, "no-path", true, "Pairs of ports have no path, though cables join them.") \
	X(MENDED, "mended", false, \
	    "No engine of the chain can route the fabric: the tables there are were mended, " \
	    "or built-in up/down routes.") \
	X(LONGER_PATHS, "longer-paths", false, "Paths are longer than those before.") \
	X(FULLER_CABLE, "fuller-cable", false, \
	    "The fullest cable between switches carries more routes than the fullest before.") \
	X(BETTER_TABLES, "better-tables", false, \
	    "Another engine that auto has weighed would route better, and is not taken, as " \
	    "entries may have to be emptied for a moment.") \
	X(DEADLOCK_RISK, "deadlock-risk", false, \
	    "The tables, or the change to them, may deadlock.") \
	X(LIDS_EMPTIED, "lids-emptied", false, \
	    "Entries of LIDs are emptied for a moment, as no order of writing them is free " \
	    "of deadlocks.") \
	/* what sweeps have found: core/inventory/news.h */ \
	X(LOST_NODES, "lost-nodes", true, \
	    "Nodes are not there any more. The end says that all of them, and their cables, " \
	    "are there again.") \
	X(LOST_CABLES, "lost-cables", true, \
	    "Cables are not there any more. The end says that a cable is again at an end of " \
	    "each.") \
	X(CAME_NODES, "came-nodes", true, "Nodes have come. " \
	    "Where a cable of them is slow, the end says that it is no more.") \
	X(CAME_CABLES, "came-cables", true, "Cables have come. " \
	    "Where one of them is slow, the end says that it is no more.") \
	X(MOVED, "moved", false, "A port of a host has another neighbour.") \
	X(BOUNCED, "bounced", false, "A cable went down and came back between two sweeps.") \
	X(FLAPPING, "flapping", true, \
	    "A cable goes down again and again, and is left out of routing where it is not " \
	    "the only way.") \
	X(STILL, "still", false, "A cable flaps no more.") \
	X(OTHER_RATE, "other-rate", true, "A cable has another width or speed than before. " \
	    "Where it is slow now, the end says that it is no more.") \
	X(SLOW, "slow", true, "A cable is narrower or slower than both its ends support.") \
	X(RENAMED, "renamed", false, "A node has another name.") \
	X(CABLING, "cabling", true, \
	    "Cables or nodes are not as topology_file has them. The end says that all are, or " \
	    "that others differ now, which is told anew.") \
	/* what is unfinished, as fmctl trouble has it: core/sweep/todo.h */ \
	X(DUPLICATE_GUID, "duplicate-guid", true, "A node has the GUID that another one has.") \
	X(LOOPBACK_CABLE, "loopback-cable", true, "A cable leads back to its own switch.") \
	X(NO_ANSWER, "no-answer", true, "A link is up, and nobody answers behind it.") \
	X(SILENT_NODE, "silent-node", true, "A node does not answer what must be known of it.") \
	X(LATE, "late", true, "A node was asked and has not answered yet.") \
	X(DISABLED, "disabled", true, "babbling_port_policy has disabled a port.") \
	X(FOREIGN_M_KEY, "foreign-m-key", true, "A port is under an M_Key that is not ours.") \
	X(UNANSWERED, "unanswered", true, \
	    "A node has left a question of the last sweep unanswered.") \
	X(UNREAD, "unread", true, \
	    "What is known of a port is in doubt, and was not read again.") \
	X(ENDS_DISAGREE, "ends-disagree", true, "The two ends of a cable do not agree.") \
	X(PUT_OFF, "put-off", true, "A link waits until older tables are out of the switches.") \
	X(NOT_ACTIVE, "not-active", true, "A link is not ACTIVE.") \
	X(TABLES, "tables", true, "Forwarding tables of a switch are not those of the plan.") \
	X(SL2VL, "sl2vl", true, "SL-to-VL maps are not those of the plan.") \
	X(MULTICAST, "multicast", true, \
	    "Multicast forwarding tables are not those of the plan.") \
	X(PKEYS, "pkeys", true, "The P_Key table of a port is not what the partitions ask for.") \
	X(ALIAS_GUIDS, "alias-guids", true, "Alias GUIDs of a port are not set in it.") \
	X(JOINED, "joined", true, \
	    "Switches are joined to older tables, which no engine has made.") \
	X(NOT_UP, "not-up", true, "No sweep has brought the subnet up.") \
	X(OLD_PLAN, "old-plan", true, \
	    "The plan in force is not of the fabric as it was last read.") \
	X(TABLES_WAIT, "tables-wait", true, "Other tables wait to be taken up (fmctl drain).") \
	X(OTHER_CONF, "other-configuration", true, \
	    "The tables are not what the configuration asks for.") \
	/* answers to hosts, and who asks too much */ \
	X(KEPT_ANSWERS, "kept-answers", false, \
	    "The SA answers from what was kept, unverified, until the first sweep has ended.") \
	X(KEPT_COMPARED, "kept-compared", false, \
	    "The first sweep has ended, and what was kept was compared with what it found.") \
	X(SA_BEHIND, "sa-behind", false, "The SA answers from what was before.") \
	X(REGISTERED_LOST, "registered-lost", false, \
	    "What hosts have registered is lost, or not kept for a restart.") \
	X(BUSY_CLIENT, "busy-client", false, "One client asks most of what there is to do.") \
	X(PORT_BABBLING, "port-babbling", false, \
	    "A port sends traps without end; where babbling_port_policy disables it, " \
	    "disabled tells of that.") \
	X(NO_REPLY, "no-reply", false, \
	    "A node has not answered what it was asked, or gives nothing away under its M_Key. " \
	    "Where that lasts, no-answer, silent-node, unanswered or foreign-m-key tells of it.") \
	X(NODE_REFUSES, "node-refuses", false, \
	    "A node refuses what fmd writes, or does not take it.") \
	X(READBACK_DIFFERS, "readback-differs", false, \
	    "Nodes hold something else than what fmd has written, and it is written again.") \
	X(FOREIGN_CC_KEY, "foreign-cc-key", true, \
	    "Switches or host ports are under a CC_Key that is not ours, and take no settings " \
	    "of congestion control.") \
	X(CONGESTION_UNSET, "congestion-unset", true, \
	    "Switches or host ports do not hold the settings of congestion control: they do " \
	    "not answer, have no such agent, or do not take them.") \
	X(ADDRESS_REFUSED, "address-refused", false, \
	    "A host has registered an IP address that it must not: of a GID that its port has " \
	    "not, or with data that make no sense.") \
	X(ADDRESS_CONTESTED, "address-contested", true, \
	    "A port has registered an IP address that another has, or that the file of " \
	    "addresses gives to another.") \
	X(NOT_PUBLISHED, "not-published", true, "A place cannot be published to.") \
	X(FOLLOWER_LOST, "follower-lost", true, "Who follows a place is gone.") \
	/* other warnings and errors */ \
	X(WARNING_ADAPTIVE, "warning-adaptive", false, "Adaptive routing.") \
	X(WARNING_AUDIT, "warning-audit", false, "Reading back.") \
	X(WARNING_CONF, "warning-conf", false, "The configuration and the files that it names.") \
	X(WARNING_CONGESTION, "warning-congestion", false, "Congestion control.") \
	X(WARNING_CTL, "warning-ctl", false, "The control socket.") \
	X(WARNING_DAEMON, "warning-daemon", false, "The process and its loop.") \
	X(WARNING_DIST, "warning-dist", false, "Publishing paths.") \
	X(WARNING_ENGINE, "warning-engine", false, "An engine has said so.") \
	X(WARNING_FABRIC, "warning-fabric", false, "What the fabric is made of.") \
	X(WARNING_HA, "warning-ha", false, "Other SMs and standbys.") \
	X(WARNING_HEALTH, "warning-health", false, "How cables are.") \
	X(WARNING_KEEP, "warning-keep", false, "Files kept over a restart.") \
	X(WARNING_LID, "warning-lid", false, "Who gets which LID.") \
	X(WARNING_MAD, "warning-mad", false, "Sending and receiving.") \
	X(WARNING_PARTITIONS, "warning-partitions", false, "Partitions and P_Keys.") \
	X(WARNING_PLUGIN, "warning-plugin", false, "Files of engines.") \
	X(WARNING_PORTS, "warning-ports", false, "Ports.") \
	X(WARNING_QOS, "warning-qos", false, "QoS.") \
	X(WARNING_ROUTE, "warning-route", false, "Making tables.") \
	X(WARNING_SA, "warning-sa", false, "Subnet administration.") \
	X(WARNING_SIM, "warning-sim", false, "The simulated fabric.") \
	X(WARNING_STORE, "warning-store", false, "What outlives the process.") \
	X(WARNING_SWEEP, "warning-sweep", false, "Sweeps.") \
	X(WARNING_OTHER, "warning-other", false, "Something else.")
/* clang-format on */

enum event_kind {
	EVENT_NONE, /* of a warning: the kind of its subsystem */
#define EVENT_KIND(id, name, lasts, means) EVENT_##id,
	EVENT_KINDS(EVENT_KIND)
#undef EVENT_KIND
	    N_EVENT_KINDS
};

const char *event_kind_name(enum event_kind kind);
const char *event_kind_means(enum event_kind kind); /* a sentence or a few */
bool event_kind_lasts(enum event_kind kind);
enum event_kind event_kind_named(const char *name); /* EVENT_NONE: there is none */
/* Of warnings of a subsystem of the log that have no kind of their own. */
enum event_kind event_kind_of_subsystem(const char *subsystem);

#endif
