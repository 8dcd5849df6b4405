/** Names the events of deliveries in the selected language. */
import { tMaybe, tReason } from "./T.ts"

/** Returns the event of a delivery and its action, or the search that found it. An event without a name is shown as its sender calls it. */
export const eventName = ({
  action,
  event
}: {
  readonly action?: string | undefined
  readonly event: string
}): string => {
  if (event === "catch_up" && action !== undefined) return tReason({ _tag: "FoundBySearch", occasion: action })
  const name = tMaybe("event", event) ?? event
  return action === undefined ? name : `${name} · ${action}`
}
