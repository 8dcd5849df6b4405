/** Defines the endpoints of nodes. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Reason } from "../../domain/Reason.ts"
import { Node } from "./NodeRecords.ts"
import { Authenticated, ValidRequest } from "./Rules.ts"

export class NodeGroup extends HttpApiGroup.make("nodes")
  .add(
    HttpApiEndpoint.get("list", "/nodes", {
      success: Schema.Struct({
        items: Schema.Array(Node),
        warnings: Schema.Array(Reason).annotate({
          description: "Roles that no node has, and differences between nodes that should be equal"
        })
      })
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List nodes",
        description:
          "Lists the nodes of the installation with roles, versions, configurations and numbers of actors, and warns about differences and about roles that no node has."
      })
    )
  )
  .middleware(ValidRequest)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Nodes", description: "Nodes of the installation" })) {}
