/** The row of a run in the table `runs`: the record, the token of its worker, and what lists select by. */
import { foldRepo } from "../../domain/Change.ts"
import type { LeaseToken } from "../../domain/FencingToken.ts"
import * as Field from "../../domain/Field.ts"
import { searchText } from "../../domain/SearchText.ts"
import { record } from "../../domain/Record.ts"
import type { RecordValues } from "../../domain/Record.ts"
import { Run } from "../Runs.ts"
import type { BegunRun } from "../Runs.ts"

export const RunRow = record({ ...Run.fields, token: Field.integer })
export type RunRow = RecordValues<typeof RunRow>

const NewRunRow = record({
  ...RunRow.fields,
  repo: Field.text,
  number: Field.optional(Field.integer),
  triggerName: Field.text,
  baseRef: Field.optional(Field.text),
  search: Field.text
})

/** Returns the row of a new run. */
export const newRunRow = (
  run: BegunRun & Pick<Run, "id">,
  status: "queued" | "preparing",
  token: LeaseToken,
  now: number
) =>
  NewRunRow.toRow({
    ...run,
    token,
    status,
    partial: false,
    createdAt: now,
    startedAt: status === "queued" ? undefined : now,
    repo: foldRepo(run.change.repo.fullName),
    number: run.change.target.number,
    triggerName: run.change.trigger,
    baseRef: run.change.baseRef,
    search: searchText(run.change, run.workspace, run.head)
  })
