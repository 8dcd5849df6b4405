/** Defines the endpoints of nodes. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Node } from "./NodeRecords.ts"
import { Authenticated, ValidRequest } from "./Rules.ts"

export class NodeGroup extends HttpApiGroup.make("nodes")
  .add(
    HttpApiEndpoint.get("list", "/nodes", {
      success: Schema.Struct({
        items: Schema.Array(Node),
        warnings: Schema.Array(Schema.String).annotate({
          description: "Differences between nodes that should be equal"
        })
      })
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List nodes",
        description:
          "Lists the nodes of the installation with roles, versions, configurations and numbers of actors, and warns about differences."
      })
    )
  )
  .middleware(ValidRequest)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Nodes", description: "Nodes of the installation" })) {}
