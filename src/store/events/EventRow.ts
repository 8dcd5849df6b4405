/** The row of a delivery in the table `events`: the record, and the text that it is found by. */
import * as Field from "../../domain/Field.ts"
import { record } from "../../domain/Record.ts"
import { joinSearched, numbered } from "../../domain/SearchText.ts"
import { EventRecord } from "../Receipts.ts"

const NewEventRow = record({ ...EventRecord.fields, search: Field.text })

/** Names of the columns, in the order of their values. */
export const eventColumns = NewEventRow.columns

type SearchedEvent = Pick<EventRecord, "facts" | "repo" | "workspace"> & {
  readonly work?: Pick<NonNullable<EventRecord["work"]>, "change"> | undefined
}

/** Returns what a delivery is found by: repository, number, commit, workspace, people, branches and title. */
export const searchEvent = ({ facts, repo, work, workspace }: SearchedEvent): string => {
  const { author, branch, head, number, sender, title } = facts
  const { headRef, title: workTitle } = work?.change ?? {}
  const name = numbered(repo ?? "", number)
  return joinSearched([name, head, workspace, author, sender, branch, headRef, title ?? workTitle])
}

/** Returns the values of the columns of a new row. */
export const eventValues = (event: EventRecord) => NewEventRow.toValues({ ...event, search: searchEvent(event) })
