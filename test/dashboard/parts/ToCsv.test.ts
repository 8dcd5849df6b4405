import { expect, it } from "vitest"
import { toCsv } from "../../../src/dashboard/parts/ToCsv.ts"

const describe = () => "the reason"

it("has a column for each field of any record, also of nested ones, and texts of reasons", () => {
  const records = [
    { id: "1", run: { status: "failed", cost: -0.5 }, reason: { _tag: "X" } },
    { id: "2", events: ["a", "b"], note: null }
  ]
  expect(toCsv(records, describe)).toBe(
    ["id,run.status,run.cost,reason,events,note", "1,failed,-0.5,the reason,,", '2,,,,"[""a"",""b""]",', ""].join(
      "\r\n"
    )
  )
})

it.each(["=1+1", "+1", "-1+2", "@SUM(A1)", "\tx", "\rx"])("%j is a text in a spreadsheet", (title) => {
  const [, row = ""] = toCsv([{ title }], describe).split("title\r\n")
  expect(row.replace('"', "").startsWith("'")).toBe(true)
})

it("quotes what would end a cell or a row", () => {
  expect(toCsv([{ title: 'a "b", c\nd' }], describe)).toBe('title\r\n"a ""b"", c\nd"\r\n')
})
