/**
 * Versions of nats-server whose faults the service cannot work around. Streams with several replicas accept two writers behind the same
 * message before 2.9.21 (nats-server issue 4320): locks, leases and the queue need that the second one is refused.
 */
const fixedIn = [2, 9, 21] as const

/** Returns why a server of this version cannot be used with this number of replicas, or undefined if it can. */
export const explainVersion = (version: string | undefined, replicas: number): string | undefined => {
  if (version === undefined || replicas === 1) return undefined
  const parts = version.split(/[.-]/).map((part) => Number.parseInt(part, 10))
  const at = fixedIn.findIndex((fixed, index) => parts[index] !== fixed)
  if (at === -1 || (parts[at] ?? 0) > (fixedIn[at] ?? 0)) return undefined
  return (
    `nats-server ${version} may accept two writers at once in a stream with ${replicas} replicas. ` +
    `Install nats-server ${fixedIn.join(".")} or newer on all servers, or set SVC_NATS_REPLICAS=1 with one server`
  )
}
