/** Idempotency keys: their texts, and that no kind is accepted as another. `tsc` checks the comments that expect an error. */
import { describe, expect, it } from "vitest"
import {
  DeliveryKey,
  deliveryKey,
  OperationId,
  replyId,
  ReservationId,
  TargetKey,
  uniqueDeliveryKey
} from "../../src/domain/Keys.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import type { Publication } from "../../src/domain/Publication.ts"
import type { Reservation } from "../../src/llm/Budget.ts"
import { followUpId } from "../../src/outputs/channels/OperationId.ts"
import type { Batch } from "../../src/store/Batches.ts"
import type { LedgerReservation } from "../../src/store/Ledger.ts"
import type { EventRecord } from "../../src/store/Receipts.ts"
import type { Run } from "../../src/store/Runs.ts"

const target = TargetKey.make("github:team/app:pull_request:7")
const delivery = deliveryKey("github", "72d3162e")
const operation = OperationId.make("0f")
const reservation = ReservationId.make("r")

describe("idempotency keys", () => {
  it("are the texts that stores and hosts hold", () => {
    expect(delivery).toBe("github:72d3162e")
    expect(uniqueDeliveryKey(delivery, "e1")).toBe("github:72d3162e#e1")
    expect(replyId("e1")).toBe("help:e1")
    expect(followUpId(operation, "call")).toMatch(/^[0-9a-f]{32}$/)
  })

  it("of one thing do not pass for those of another", () => {
    const text = "github:team/app:pull_request:7"
    // @ts-expect-error a text is not a target
    const entry: Pick<Entry, "targetKey"> = { targetKey: text }
    // @ts-expect-error a delivery is not a target
    const run: Pick<Run, "targetKey"> = { targetKey: delivery }
    // @ts-expect-error an operation is not a target
    const batch: Pick<Batch, "stream"> = { stream: operation }
    // @ts-expect-error a target is not a delivery
    const event: Pick<EventRecord, "deliveryKey"> = { deliveryKey: target }
    // @ts-expect-error a delivery is not an operation
    const publication: Pick<Publication, "operationId"> = { operationId: delivery }
    // @ts-expect-error an operation is not a reservation
    const reserved: Pick<Reservation, "id"> = { id: operation }
    // @ts-expect-error a text is not a reservation
    const stored: Pick<LedgerReservation, "id"> = { id: text }
    // @ts-expect-error what an operation leads to is named after an operation
    followUpId(target, "call")
    // @ts-expect-error a reservation is not a delivery
    const other: DeliveryKey = reservation
    expect([entry, run, batch, event, publication, reserved, stored, other]).toHaveLength(8)
  })
})
