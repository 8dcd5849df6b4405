/** State of the traffic to all hosts: the pace of each account, and the circuit of each origin. One per process, shared by all clients. */
import { Context, Layer } from "effect"
import type { HostStates } from "./HostHealth.ts"
import type { Paces } from "./Pacing.ts"

export class HostTraffic extends Context.Service<HostTraffic, { readonly paces: Paces; readonly states: HostStates }>()(
  "aicr/forge/HostTraffic"
) {
  static readonly layer = Layer.sync(this, () => ({ paces: new Map(), states: new Map() }))
}
