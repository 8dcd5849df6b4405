/** Checks channels with a separate host: the credential of a trigger is only sent to that trigger's host. */
import { haveSameOrigins, hostUrls } from "../../domain/HostUrls.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import type { CrossCheckReports } from "./Check.ts"
import type { TreePosition, Tree } from "./Tree.ts"
import { textAt } from "./Tree.ts"

const credentials = ["token", "token_env", "app"]

/** Checks a channel. `kinds` are the trigger kinds that the channel works with; `triggers` are all of the document. */
export const checkChannelHost = (
  { path, value }: TreePosition<Tree>,
  kinds: ReadonlyArray<string> | undefined,
  triggers: ReadonlyArray<TreePosition<Tree>>,
  { error }: CrossCheckReports
): void => {
  const baseUrl = textAt(value, "base_url")
  if (baseUrl === undefined || kinds === undefined) return
  if (value["token"] !== undefined || value["token_env"] !== undefined) return
  const named = textAt(value, "trigger")
  for (const { value: trigger } of triggers) {
    const kind = textAt(trigger, "kind")
    const name = textAt(trigger, "name")
    if (kind === undefined || !isForgeKind(kind) || !kinds.includes(kind)) continue
    if (name === undefined || (named ?? name) !== name || credentials.every((key) => trigger[key] === undefined))
      continue
    if (haveSameOrigins(hostUrls(kind, textAt(trigger, "base_url")), hostUrls(kind, baseUrl))) continue
    error({
      path: [...path, "base_url"],
      reason: { _tag: "HostDiffers", trigger: name },
      at: "value"
    })
    return
  }
}
