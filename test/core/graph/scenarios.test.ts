import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../../src/setup.mjs';

/*
 * The scenarios of upstream's tests of the event graph and of its channels (event-graph.md 10.1 and 10.3), by the
 * names they have there, each with where it is shown here, or why this design has no place for it.
 */

/** File and title of a test, as they stand in the source. */
type Shown = readonly [file: string, title: string];
type Place = { readonly by: readonly Shown[] } | { readonly not: string };

const graph = 'test/core/graph';
const by = (...shown: readonly Shown[]): Place => ({ by: shown });
const named = (file: string, name: string): Place => by([file, `(${name})`]);
const here = (name: string): Place => named(`${graph}/upstream.test.ts`, name);
const staticGraph: Place = {
  not: 'the static graph holds the registrations of a zero-knowledge limiter; here identities are a list of each relay, and there is no static graph',
};
const timePages: Place = {
  not: 'no peer is asked for pages by time: what is missing is found by tips and headers; the screen pages by place in the conversation, from its own store',
};
const hostList: Place = {
  not: 'relays come from configuration and from people; nobody keeps or hands on a list of hosts, and no advertised address is dialled. Finding relays is the rendezvous, with rules of its own',
};

/** Section 10.1. */
const eventGraph: Readonly<Record<string, Place>> = {
  event_rep_filter_matches_only_requested_ids: by(
    ['test/core/link/session.test.ts', "test.each(['an id not asked for', 'one id twice'])"],
    ['test/core/wire/sync.test.ts', 'a reply whose events and blobs differ in number is refused'],
    ['test/scenario/receiving.test.ts', 'whatever order the relay gives it in'],
    [`${graph}/sync.test.ts`, 'goes on when bytes cut an answer short'],
    ['test/scenario/sync-cases.test.ts', '(BL-26) an answer with an event nobody asked for is none'],
  ),
  parent_event_rep_requires_progress: by(
    [`${graph}/sync.test.ts`, '%s: the sync ends and says so'],
    [
      `${graph}/sync.test.ts`,
      'one that the answer of the peer does not lead to is asked for by its id, once',
    ],
  ),
  static_sync_merge_tracks_partial_requested_batches: staticGraph,
  layer_tip_cap_is_bounded: by([`${graph}/headers.test.ts`, 'tips are capped to the highest layers']),
  parent_selection_does_not_wrap_saturated_layer: here('parent_selection_does_not_wrap_saturated_layer'),
  config_rejects_invalid_rotation_settings: by(
    ['test/relay/config.test.ts', 'more synced than kept'],
    ['test/core/wire/profile.test.ts', 'slots follow each other without gap'],
  ),
  invalid_config_does_not_open_dag_trees: named(
    'test/relay/invalid-config.test.ts',
    'invalid_config_does_not_open_dag_trees',
  ),
  rotation_helpers_are_total: here('rotation_helpers_are_total'),
  time_index_queries_and_saturating_cursor: timePages,
  compute_unreferenced_tips_single_pass: here('compute_unreferenced_tips_single_pass'),
  generated_dags_preserve_storage_invariants: here('generated_dags_preserve_storage_invariants'),
  dag_store_eviction_policy: by(
    [`${graph}/upstream.test.ts`, '(dag_store_eviction_policy)'],
    ['test/relay/graph.test.ts', '720 slots are kept where nothing else is said, and the 721st is forgotten'],
  ),
  window_matches_generated_config_limits: here('window_matches_generated_config_limits'),
  archive_mode_discovers_existing_trees: named(
    'test/relay/graph.test.ts',
    'archive_mode_discovers_existing_trees',
  ),
  rejects_corrupt_header_index: by(
    ['test/relay/graph.test.ts', 'rejects_corrupt_header_index'],
    ['test/relay/damaged-rows.test.ts', '%s: serves the others, counts it, and takes it again'],
  ),
  rejects_corrupt_event_tree_on_open: by(
    ['test/relay/graph.test.ts', 'rejects_corrupt_event_tree_on_open'],
    ['test/relay/damaged-rows.test.ts', 'do not keep a file from being brought to a later schema'],
  ),
  rotating_event_creation_rejects_missing_current_dag_slot: here(
    'rotating_event_creation_rejects_missing_current_dag_slot',
  ),
  static_event_creation_rejects_corrupt_static_dag: staticGraph,
  header_insert_rejects_unloaded_dag_slot: here('header_insert_rejects_unloaded_dag_slot'),
  dag_insert_valid_and_duplicate: here('dag_insert_valid_and_duplicate'),
  duplicate_header_insert_does_not_duplicate_time_index: here(
    'duplicate_header_insert_does_not_duplicate_time_index',
  ),
  dag_insert_without_header_skipped: here('dag_insert_without_header_skipped'),
  header_insert_rejects_layer_jump: by([`${graph}/upstream.test.ts`, "'header_insert_rejects_layer_jump'"]),
  header_insert_rejects_duplicate_parents: by([
    `${graph}/upstream.test.ts`,
    "'header_insert_rejects_duplicate_parents'",
  ]),
  header_validate_rejects_layer_overflow_parent: by([
    `${graph}/upstream.test.ts`,
    "'header_validate_rejects_layer_overflow_parent'",
  ]),
  header_validate_uses_target_slot_bounds: here('header_validate_uses_target_slot_bounds'),
  header_validate_ignores_future_initial_genesis: here('header_validate_ignores_future_initial_genesis'),
  // A graph without rotation is none of ours; what lies far ahead is refused in every one.
  header_validate_no_rotation_rejects_far_future: by(
    [`${graph}/insert.test.ts`, 'a minute is no bound to the past inside the slot, and one to the future'],
    ['test/scenario/hostile-input.test.ts', '(HX-10) %s: put or given to a sync it is not stored'],
  ),
  order_events_rejects_corrupt_event_record: by([
    'test/scenario/faults.test.ts',
    'one that is damaged is passed over, and the others are heard',
  ]),
  ancestor_walk_via_header_tree: here('ancestor_walk_via_header_tree'),
  fetch_headers_with_tips_is_bounded_and_layer_ordered: by([
    `${graph}/headers.test.ts`,
    'a long difference takes several reads, and an answer is cut at its bound',
  ]),
  fetch_page_both_directions: timePages,
  fetch_page_with_blobs_is_dag_scoped_and_blob_aligned: timePages,
  fetch_page_with_blobs_keeps_same_timestamp_cursor_position: timePages,
  range_req_returns_blob_aligned_backward_page: timePages,
  // Bodies whose parents are not here are left and asked for again, rather than kept aside.
  dag_sync_range_drains_pending_backward_page: by(
    ['test/scenario/asked-once.test.ts', 'of different parts each gives what it has'],
    ['test/relay/sync.test.ts', 'takes what one peer lacks from another: each of two has half'],
  ),
  propagation_with_real_blob: by(
    [`${graph}/upstream-sync.test.ts`, '(propagation_with_real_blob)'],
    ['test/relay/rate-limit.test.ts', 'hands on only what it took, with its proof'],
    ['test/relay/mesh-events.test.ts', 'in a ring end by what is known: every member hears everything once'],
  ),
  event_put_ingests_body_after_header_only_sync: here('event_put_ingests_body_after_header_only_sync'),
  empty_blob_rejected: by([`${graph}/order.test.ts`, 'empty_blob_rejected']),
  malformed_event_rejected_before_rln: by([`${graph}/order.test.ts`, '(malformed_event_rejected_before_rln']),
  genesis_with_blob_rejected: by([`${graph}/upstream.test.ts`, "'genesis_with_blob_rejected'"]),
  dag_sync_with_blob: named(`${graph}/upstream-sync.test.ts`, 'dag_sync_with_blob'),
  dag_sync_rejects_bad_blob: by(
    [`${graph}/upstream-sync.test.ts`, '(dag_sync_rejects_bad_blob)'],
    ['test/relay/graph.test.ts', '(dag_sync_rejects_bad_blob'],
  ),
  'child rejected when parent body rejected: direct': here('child rejected when parent body rejected'),
  'child rejected when parent body rejected: sync': by(
    [`${graph}/upstream.test.ts`, '(child rejected when parent body rejected) put, synced or fetched'],
    ['test/relay/graph.test.ts', 'from a peer that alters a body ends, and goes on with another'],
  ),
  'child rejected when parent body rejected: parent fetch': by([
    'test/relay/graph.test.ts',
    'whose parent is given altered: Busy, and Has from a peer with the right one',
  ]),
  dormant_user_can_post_after_long_silence: here('dormant_user_can_post_after_long_silence'),
  fetch_missing_events_rejects_corrupt_header_record: here(
    'fetch_missing_events_rejects_corrupt_header_record',
  ),
};

/** Section 10.3. */
const net: Readonly<Record<string, Place>> = {
  p2p_test: hostList,
  // Our named deviation: counted and dropped, not banned.
  'unsupported message type gets banned': named(
    `${graph}/upstream-net.test.ts`,
    'unsupported message type gets banned',
  ),
  'over-long command': named(`${graph}/upstream-net.test.ts`, 'over-long command'),
  'over-long payload': named(`${graph}/upstream-net.test.ts`, 'over-long payload'),
  'inbound slots survive rapid disconnects': named(
    'test/relay/police.test.ts',
    'inbound slots survive rapid disconnects',
  ),
  'shutdown drains channels across restarts': named(
    'test/relay/police.test.ts',
    'shutdown drains channels across restarts',
  ),
  'broadcasts bounded and drained': by(
    [
      'test/relay/hostile-memory.test.ts',
      'while 200 MB are published: memory is bounded, others get all, it is ended by name, and comes back by sync',
    ],
    ['test/relay/mesh-events.test.ts', 'that overflows drops, counts, and repairs as soon as it has room'],
  ),
  'hosts: local-host table': hostList,
  'hosts: container ops': hostList,
  'hosts: state transitions': hostList,
  'hosts: block_all_ports': hostList,
  'hosts: refresh': hostList,
  'hosts: transport mixing and dialable schemes': hostList,
  'hosts: filter classification': hostList,
  'hosts: registry pruning': hostList,
  metering: by(
    ['test/relay/status.test.ts', 'more new events than a minute admits end it without an answer'],
    ['test/core/link/session.test.ts', 'a flood of pings ends the session'],
  ),
  'protocol_address: getaddr size and mixing preference': hostList,
  // There is one way to reach a relay, its URL: no routes, no proxies to fall back to.
  'connector: route text, blacklist, fallback': by(
    ['test/relay/mesh-links.test.ts', 'that dials itself gives that address up, and the others not'],
    ['test/relay/mesh-links.test.ts', 'never dials an address that a peer tells it'],
  ),
  'connector: stop': by([
    'test/relay/mesh-links.test.ts',
    'is dialled again for ever, ever more seldom, and at once no more when the relay stops',
  ]),
};

const places = [...Object.entries(eventGraph), ...Object.entries(net)];
const shown = places.flatMap(([name, place]) =>
  'by' in place ? place.by.map(([file, title]) => [name, file, title] as const) : [],
);

describe("upstream's scenarios", () => {
  test('are all placed, as many as the list has, each shown somewhere or left out with a reason', () => {
    expect([Object.keys(eventGraph).length, Object.keys(net).length]).toEqual([48, 19]);
    for (const [name, place] of places) {
      const text = 'by' in place ? place.by.map((one) => one.join(' ')).join(' ') : place.not;
      expect([name, text.length > 20]).toEqual([name, true]);
    }
  });

  test.each(shown)('%s is shown in %s', (_name, file, title) => {
    const source = readFileSync(join(root, file), 'utf8');
    const plain = source.replaceAll("\\'", "'");
    expect(plain.includes(title), `no test of ${file} has the title ${title}`).toBe(true);
  });
});
