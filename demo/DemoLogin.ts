/** Opens a login link on the local socket of the demo's service, as `aicr dashboard` does. */
import { Effect, Schema } from "effect"
import { adminPath } from "../src/admin/api/AdminHttpApi.ts"
import { listSockets } from "../src/app/AdminSocket.ts"
import { sendTo } from "../src/cli/AdminHttpClient.ts"
import type { Snapshot } from "../src/config/Snapshot.ts"

const decodeLink = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))

/** Returns the address of the dashboard, with a link if the socket is served; its path may be too long for that. */
export const openDashboard = Effect.fnUntraced(
  function* (snapshot: Snapshot, dashboard: string) {
    const [socket] = listSockets(snapshot)
    if (socket === undefined) return dashboard
    const { text } = yield* sendTo({ socketPath: socket })({
      method: "POST",
      path: `${adminPath}/login/link`,
      body: undefined
    })
    // The port of the demo is a free one, which its configuration does not name.
    return `${dashboard}${new URL((yield* decodeLink(text)).url).hash}`
  },
  (opened, _, dashboard) => Effect.orElseSucceed(opened, () => dashboard)
)
