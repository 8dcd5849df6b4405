/**
 * Plans the statement of a verdict. It is complete from here on, and stored in the transaction that stores the verdict: whichever publisher
 * signs it, and however often, there is one statement per verdict. Pure.
 */
import { buildStatement } from "../domain/BuildStatement.ts"
import type { Publication } from "../domain/Publication.ts"
import type { PublishInput } from "./channels/Channel.ts"
import { statementId } from "./channels/OperationId.ts"
import { toPublication } from "./channels/PlanRows.ts"
import { signsVerdicts } from "./SigningKeys.ts"

/** Channel name of statements, which routes do not name. */
const statementChannel = "statement"

/** Empty where no key is configured, and for a run that is not a review. `time` is that of the verdict, in milliseconds since the epoch. */
export const statementRows = (
  input: PublishInput,
  { base, configHash }: { readonly base?: string | undefined; readonly configHash: string },
  position: number,
  time: number
): ReadonlyArray<Publication> => {
  const { analysis, change, head, runId, workspace } = input
  if (!signsVerdicts(workspace.snapshot())) return []
  const { outputs, review } = workspace
  const statement = buildStatement(
    { runId, change, head, base, configHash, analysis, review, shadow: outputs.shadow },
    new Date(time).toISOString()
  )
  if (statement === undefined) return []
  const operation = { _tag: "Statement", head, time, statement } as const
  return [toPublication(input, statementChannel, position, { operationId: statementId(input), operation })]
}
