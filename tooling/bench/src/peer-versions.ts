/** Exact ones: a figure is of a version. */
export const PEER_VERSIONS = {
  'bee-queue': '2.0.0',
  bullmq: '6.7.0',
  'graphile-worker': '0.18.0',
  'pg-boss': '12.38.0',
  plainjob: '0.0.14',
} as const;

export type PeerPackage = keyof typeof PEER_VERSIONS;
