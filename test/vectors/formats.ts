/** Frozen vectors of formats.md 1: the network profile `holdfast` and the features. */
export const profile = {
  magic: '11c014e5',
  magicSource: 'holdfast-v1',
  staticGenesisId: '40010d0031dac18a9a8a3778803138b81b8f38f9754ebc21a360d559aa71f115',
  swarmId: 'fdcebd7799a8f018f0fa3b30d6f020550fe76e2f36dcdd6634ff07de4f9dabe1',
  initialGenesisMs: 1_767_225_600_000,
} as const;

/** Encoded features, in the order we announce them. */
export const features = [
  { name: 'eventput-status', value: 1, hex: '0f6576656e747075742d73746174757301000000' },
  { name: 'content-bytes-max', value: 262_144, hex: '11636f6e74656e742d62797465732d6d617800000400' },
  { name: 'batch-events-max', value: 128, hex: '1062617463682d6576656e74732d6d617880000000' },
  { name: 'batch-bytes-max', value: 1_048_576, hex: '0f62617463682d62797465732d6d617800001000' },
] as const;
