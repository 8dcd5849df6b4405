/** Saves a list with its filters and its order as a file: as comma-separated values, or as JSON. */
import { useState } from "react"
import { isReason } from "../../domain/Reason.ts"
import type { Endpoint, Input } from "../client/Endpoints.ts"
import { readPage } from "../client/RefreshPages.ts"
import { formatCount } from "../text/Format.ts"
import { t, tReason } from "../text/T.ts"
import { notify, notifyError } from "./Notices.tsx"
import { saveFile } from "./SaveFile.ts"
import { toCsv } from "./ToCsv.ts"

/** Maximum number of records in a file, and of each request. */
const maxRecords = 10_000
const pageLimit = 200

const readAll = async <E extends Endpoint>(endpoint: E, input: Input<E>) => {
  const records: Array<unknown> = []
  let cursor = ""
  while (records.length < maxRecords) {
    const page = await readPage(endpoint, input as Input<Endpoint>, cursor, { limit: pageLimit })
    records.push(...page.items)
    if (page.next_cursor === null) return { records, more: false }
    cursor = page.next_cursor
  }
  return { records: records.slice(0, maxRecords), more: true }
}

const formats = {
  csv: {
    type: "text/csv",
    toText: (records: ReadonlyArray<unknown>) =>
      // The mark makes spreadsheets read the file as UTF-8.
      `\uFEFF${toCsv(records, (reason) => (isReason(reason) ? tReason(reason) : JSON.stringify(reason)))}`
  },
  json: { type: "application/json", toText: (records: ReadonlyArray<unknown>) => JSON.stringify(records, null, 2) }
}

/** `name`: that of the file, without its ending. */
export const Export = <E extends Endpoint>({
  endpoint,
  input,
  name
}: {
  readonly endpoint: E
  readonly input: Input<E>
  readonly name: string
}) => {
  const [isPending, setPending] = useState(false)
  const run = async (format: keyof typeof formats) => {
    setPending(true)
    try {
      const { more, records } = await readAll(endpoint, input)
      const { toText, type } = formats[format]
      saveFile(`${name}.${format}`, new Blob([toText(records)], { type }))
      if (more) notify("bad", t("export.more", { count: formatCount(maxRecords) }))
    } catch (error) {
      notifyError(error)
    }
    setPending(false)
  }
  return (
    <div className="presets" role="group" aria-label={t("export.label")}>
      {(["csv", "json"] as const).map((format) => (
        <button type="button" key={format} disabled={isPending} onClick={() => void run(format)}>
          {format.toUpperCase()}
        </button>
      ))}
    </div>
  )
}
