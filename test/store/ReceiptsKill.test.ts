/** A process that stores records is killed: every acknowledged record exists. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { DeliveryKey } from "../../src/domain/Keys.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { event } from "./Fixtures.ts"
import { killAfter } from "./KilledChild.ts"

const child = fileURLToPath(new URL("ReceiptsChild.ts", import.meta.url))
const rounds = [1, 40, 333, 1000, 2500]

describe("Receipts, process killed", () => {
  it("loses nothing that was acknowledged, and detects duplicates of it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "aicr-receipts-"))
    const path = join(folder, "data", "svc.db")
    try {
      const acknowledged: Array<string> = []
      for (const lines of rounds) acknowledged.push(...(await killAfter(child, [path], lines)))
      assert.isAtLeast(acknowledged.length, 3874)
      const check = Effect.gen(function* () {
        const receipts = yield* Receipts
        const stored = new Set<string>()
        let page: ReadonlyArray<{ readonly id: string }> = []
        do {
          page = yield* receipts.unsettled(page.at(-1)?.id, 1000)
          for (const { id } of page) stored.add(id)
        } while (page.length > 0)
        assert.deepStrictEqual(
          acknowledged.filter((id) => !stored.has(id)),
          []
        )
        for (const id of acknowledged.filter((_, index) => index % 97 === 0)) {
          const receipt = yield* receipts.store(event({ deliveryKey: DeliveryKey.make(`gitea:${id}`) }))
          assert.strictEqual(receipt._tag === "Duplicate" ? receipt.first.id : undefined, id)
        }
      })
      await Effect.runPromise(check.pipe(Effect.provide(Store.layerSqlite({ path, migrate: "verify" }))))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
