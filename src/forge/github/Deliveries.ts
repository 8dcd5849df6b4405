/** Deliveries to the webhook of a GitHub App, which the host logs for three days and repeats on request. */
import { Effect, Schema } from "effect"
import type { HostDeliveries } from "../hosts/HostChanges.ts"
import { reader, readTime, toSecond } from "../hosts/ReadChanges.ts"
import type { Rest } from "../http/Http.ts"
import { anyWriter, WriteOwner } from "../WriteOwner.ts"
import { WritePermits } from "../WritePermits.ts"
import { pages } from "./Facts.ts"
import { DeliveredPayload, Delivery } from "./Responses.ts"
import { mayStart, webhook } from "./Webhook.ts"

const path = "/app/hook/deliveries"

const readDelivery = reader(Delivery, ({ action, event, guid, id, ...delivery }) => {
  const at = readTime(delivery.delivered_at)
  return at === undefined
    ? undefined
    : {
        id: String(id),
        guid,
        at,
        // A delivery without a response has the status 0.
        isReceived: delivery.status_code >= 200 && delivery.status_code <= 399,
        isRepeated: delivery.redelivery,
        mayStart: mayStart(event, action),
        repositoryId: delivery.repository_id ?? undefined
      }
})

export const githubDeliveries = (app: Rest): HostDeliveries => {
  const one = (id: string) => ({ path: `${path}/{delivery_id}`, params: { delivery_id: id } })
  return {
    list: (since, max) =>
      Effect.map(
        app.list({ path }, readDelivery, { ...pages, max, byCursor: true }, ({ items }) =>
          items.some(({ at }) => at < toSecond(since))
        ),
        ({ items, more }) => {
          const deliveries = items.filter(({ at }) => at >= toSecond(since))
          return { deliveries, more: deliveries.length < items.length ? 0 : more }
        }
      ),
    event: (id) =>
      Effect.map(app.get(one(id), DeliveredPayload), ({ event, request }) => {
        const parsed = webhook.parse({ "x-github-event": event }, Buffer.from(JSON.stringify(request.payload)))
        return parsed._tag === "Event" ? parsed.event : undefined
      }),
    repeat: (id) =>
      app
        .write({ ...one(id), method: "POST", path: `${path}/{delivery_id}/attempts`, content: false }, Schema.Unknown)
        .pipe(Effect.asVoid, Effect.provideService(WriteOwner, anyWriter), Effect.provide(WritePermits.layerAlone))
  }
}
