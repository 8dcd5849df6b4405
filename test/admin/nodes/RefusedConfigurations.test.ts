/** Refused configurations of a node: from its configuration, and from what a node of another release published. */
import { expect, it } from "vitest"
import { listRefused, readRefused } from "../../../src/admin/nodes/RefusedConfigurations.ts"

const document = {
  file: "/etc/aicr/config.yaml",
  reason: "invalid",
  errors: 2,
  line: 9,
  since: 1,
  digest: "d"
} as const
const revision = { head: { number: 12, hash: "h" }, errors: 1 }

it("lists the file with the line of its first error, and the revision", () => {
  const refused = listRefused({ refused: () => document, refusedRevision: () => revision })
  expect(refused).toEqual([
    { source: "file", name: "/etc/aicr/config.yaml", errors: 2, line: 9 },
    { source: "revision", name: "12", errors: 1 }
  ])
  expect(readRefused(JSON.parse(JSON.stringify(refused)))).toEqual(refused)
})

it("is empty while everything is in force, and for what is not readable", () => {
  expect(listRefused({ refused: () => undefined, refusedRevision: () => undefined })).toEqual([])
  for (const value of [undefined, "x", [{ source: "other" }]]) expect(readRefused(value)).toEqual([])
})
