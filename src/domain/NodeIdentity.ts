/** Who this process is. `owner` stands on its leases and is new with each start, so that a restarted node's old leases are known as lost. */
import { Context, Layer } from "effect"
import { newId } from "./Ids.ts"

export class NodeIdentity extends Context.Service<
  NodeIdentity,
  {
    /** Name of the node, stable over restarts (SVC_NODE_NAME, else the host name). */
    readonly name: string
    /** `<name>/<incarnation>`. */
    readonly owner: string
  }
>()("aicr/domain/NodeIdentity") {
  static readonly layer = (name: string) =>
    Layer.sync(NodeIdentity, () => NodeIdentity.of({ name, owner: `${name}/${newId()}` }))
}
