/** Handles requests about nodes. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { findNodeWarnings } from "../../domain/NodeWarnings.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { orUnavailable } from "../handlers/Available.ts"
import { Nodes } from "./Nodes.ts"
import { node } from "../api/NodeRecords.ts"

export const layer = HttpApiBuilder.group(AdminHttpApi, "nodes", (handlers) =>
  handlers.handle("list", () =>
    orUnavailable(
      Nodes.use(({ list }) =>
        Effect.map(list, (found) => ({ items: found.map(node.view), warnings: findNodeWarnings(found) }))
      )
    )
  )
)
