/** Names the events of deliveries in the selected language. */
import { tMaybe } from "./T.ts"

/** Returns the event of a delivery and its action. An event without a name is shown as its sender calls it. */
export const eventName = ({
  action,
  event
}: {
  readonly action?: string | undefined
  readonly event: string
}): string => {
  const name = tMaybe("event", event) ?? event
  return action === undefined ? name : `${name} · ${action}`
}
