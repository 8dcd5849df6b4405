/**
 * Identity of this process. `owner` is part of its leases and new with each start, so that the old leases of a restarted node can be
 * recognised as lost.
 */
import { Context, Layer } from "effect"
import { newId } from "./Ids.ts"

export class NodeIdentity extends Context.Service<
  NodeIdentity,
  {
    /** Name of the node, stable over restarts (SVC_NODE_NAME, otherwise the host name). */
    readonly name: string
    /** Owner as `<name>/<incarnation>`. */
    readonly owner: string
  }
>()("aicr/domain/NodeIdentity") {
  static readonly layer = (name: string) =>
    Layer.sync(NodeIdentity, () => NodeIdentity.of({ name, owner: `${name}/${newId()}` }))
}
