/** Frozen vectors of event-graph.md 1.2 to 7.4. Never change a value: a change is a break of the wire. */

/** 1.2, upstream's own serializer tests. */
export const primitives = {
  u16: [[1, '0100'], [256, '0001'], [5000, '8813']],
  u32: [[5000, '88130000'], [500000, '20a10700'], [168430090, '0a0a0a0a']],
  i32: [[-1, 'ffffffff'], [-5000, '78ecffff'], [-500000, 'e05ef8ff']],
  u64: [[5000n, '8813000000000000']],
  i64: [[-5000n, '78ecffffffffffff']],
  f64: [[1.5, '000000000000f83f'], [256.7, '33333333330b7040'], [-1.5, '000000000000f8bf']],
  f32: [[1.5, '0000c03f'], [Math.fround(256.7), '9a598043']],
  varInt: [
    [10, '0a'],
    [0xfc, 'fc'],
    [0xfd, 'fdfd00'],
    [0xfff, 'fdff0f'],
    [0xf0f0f0f, 'fe0f0f0f0f'],
    [0xf0f0f0f0f0e0, 'ffe0f0f0f0f0f00000'],
  ],
  varIntBytes: [
    [0n, 1],
    [0xfcn, 1],
    [0xfdn, 3],
    [0xffffn, 3],
    [0x10000n, 5],
    [0xffffffffn, 5],
    [0x100000000n, 9],
    [0xffffffffffffffffn, 9],
  ],
  /** As Vec<u8>: the length is not minimal. */
  notMinimal: ['fd0000', 'fdfc00', 'feff000000', 'feffff0000', 'ffff00000000000000', 'ffffffff0000000000'],
  vecU8: [[[1, 2, 3], '03010203']],
  vecU16: [[[1, 2], '0201000200'], [[256, 5000], '0200018813']],
  vecU32: [[[1, 256, 5000], '03010000000001000088130000']],
  vecI8: [[[-1], '01ff']],
  vecI32: [[[-1, -256], '02ffffffff00ffffff']],
  string: [['Andrew', '06416e64726577']],
  /** Enum with explicit discriminants. */
  discriminants: [[1, '01'], [3, '03'], [0xf1, 'f1'], [0xfe, 'fe']],
} as const;

/** 1.3 */
export const privmsg = {
  channel: '#dev',
  nick: 'alice',
  text: 'hello',
  hex: '0000042364657605616c6963650568656c6c6f',
} as const;

const zeros = (bytes: number) => '00'.repeat(bytes);
const contentsHash = 'beebb16b9f6dfd0e7605a953a32bf59723853caaccdd0b4b6c84904b8396404b';

/** 2.9, network darkirc. */
export const geneses = {
  contentsHash,
  static: {
    timestamp: 1_740_787_200_000,
    header: `00b0004f95010000${zeros(160)}${zeros(8)}${contentsHash}`,
    id: '1da9ad0450a33ac67f7505b61067456d6c5d09821b4ec3b0e7a3a1d88a469f35',
  },
  slot: {
    timestamp: 1_767_225_600_000,
    headerStart: '00a8da769b010000',
    id: 'e8809b16dd939ba8cc9230457e789cfdeb5b880a6e04c7097c826ba5403144e4',
  },
  upstreamTest: {
    timestamp: 1_704_067_200_000,
    contents: 'darkfi-test-graph',
    id: '9daaf8798ade95af9419767f3d2105ba03b87f2dcb8e7aa61c481fb568bda975',
  },
} as const;

const idA = '6feb1c1584929dfaaed124a1acf2c51c042e427bd5c4f4cf965af895fd768bcc';
const idB = 'beccc33e7f8348064895d8f6154ce8382353c707d2d12d8cb2cfec4f31443ee1';
const hashA = '6cae52a1923302b1324af32e12e68fc0fd9a12b0bafa95762f7d02e5395b9392';
const headerA = `e8abda769b010000${geneses.slot.id}${zeros(128)}0100000000000000${hashA}`;
const eventA = `${headerA}13${privmsg.hex}`;

export const events = {
  a: {
    timestamp: 1_767_225_601_000n,
    parents: [geneses.slot.id],
    layer: 1n,
    content: privmsg.hex,
    contentHash: hashA,
    id: idA,
    header: headerA,
    event: eventA,
  },
  b: {
    timestamp: 1_767_225_601_500n,
    parents: [geneses.slot.id],
    layer: 1n,
    content: '0000042364657603626f6208686920616c696365',
    contentHash: '41b4f826fb8d842372f7c7ffcfa9a2194f8123c877aad9713571578ca6ab470c',
    id: idB,
  },
  c: {
    timestamp: 1_767_225_602_000n,
    parents: [idA, idB],
    layer: 2n,
    content: '0000042364657605616c696365066d6572676564',
    contentHash: 'ab0f5d88d7d3d573fc7f6652feba05c3003d883224659e3e080c6a890bca9e09',
    id: '616dbba6f2b75aaa648b40e6d7ebc0bf2e427fb27b77f8079d0fdaaf78bd529c',
  },
} as const;

const dag = '0d31373637323235363030303030';
const tipsA = `01${'0100000000000000'}01${idA}`;

/** 3.7, magic of darkirc. */
export const messages = {
  eventPut: `${eventA}00`,
  eventPutFrame: `fbe5c7b5144576656e7447726170683a3a4576656e74507574e5${eventA}00`,
  eventReqFrame: `fbe5c7b5144576656e7447726170683a3a4576656e745265712101${idA}`,
  eventReq: `01${idA}`,
  eventRep: `01${eventA}0100`,
  tipReqFrame: 'fbe5c7b5124576656e7447726170683a3a5469705265710e0d31373637323235363030303030',
  tipReqStaticFrame: 'fbe5c7b5124576656e7447726170683a3a5469705265710b0a7374617469632d646167',
  tipReq: dag,
  tipRep: tipsA,
  headerReq: `${dag}${tipsA}`,
  headerRep: `01${headerA}`,
  /** Newest, Backward, 50. */
  rangeReq: `${dag}ffffffffffffffff${zeros(32)}0132000000`,
} as const;

/** 3.8 */
export const statuses = {
  hasInserted: `${idA}0001`,
  hasAlready: `${idA}0000`,
  tooOld: `${idA}0100`,
  notSynced: `${idA}0101`,
  invalid: `${idA}0102`,
  busy: `${idA}0103`,
  frameOfHasInserted: `fbe5c7b51a4576656e7447726170683a3a4576656e7450757453746174757322${idA}0001`,
} as const;

/** 6.3 */
export const saltbox = {
  secret: '0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20',
  secretBase58: '4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw',
  public: '07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c',
  shared: 'e1da0d42bded3149e1e30e6f2ada146bdfdaedc38649bf46c431d50d05a89242',
  boxKey: '0aece70df77ecd57b91fbea31e920b49c9723e0a2dfe2e4d156108a04ffab1e0',
  nonce: '070707070707070707070707070707070707070707070707',
  text: 'hello',
  box: '3164e380734dcb972e0974f6b79dd077136afb6db4',
  base58: 'B5w14jeWdEk56KJzqE5LpkPAh8n2n2SkUXnp3RCUfDSWd4GjZzeaYJUvCzWH9',
} as const;

/** 7.4 */
export const core = {
  verackFrame:
    'fbe5c7b50676657261636b220000000000000000050000000000000001000000000000000000076461726b697263',
  pingFrame: 'fbe5c7b50470696e67023412',
  version:
    '00076461726b697263000000000000000005000000000000000100000000000000000001b9556900000000157463703a2f2f3132372e302e302e313a393630302f000000',
  versionFramePrefix: 'fbe5c7b50776657273696f6e44',
  /** Stands in place of the last byte of `version`. */
  versionFeature: '010e737761726d2d61642d73746f726501000000',
  getaddr:
    'ff0000000903746f7203746c7303746370036e796d0369327007746f722b746c73076e796d2b746c73077463702b746c73076932702b746c73',
  addr: '011b7463702b746c733a2f2f3230332e302e3131332e373a393630302f01b9556900000000',
} as const;
