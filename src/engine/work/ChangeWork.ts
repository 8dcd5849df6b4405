/**
 * All functions that compute with the text of a change, over the data of one change that only they hold: plain and
 * synchronous, run in a thread of `src/engine/threads`. This module does not load Effect, which would slow down the
 * start of a thread.
 */
import { makeBinaryWork } from "./BinaryWork.ts"
import { makeBlindWork } from "./BlindWork.ts"
import { makeCarryWork } from "./CarryWork.ts"
import { makeCommitWork } from "./CommitWork.ts"
import { makeCompressWork } from "./CompressWork.ts"
import { makeDefinitionWork } from "./DefinitionWork.ts"
import { makeEvidenceWork } from "./EvidenceWork.ts"
import { makeFindWork } from "./FindWork.ts"
import { makeFitState } from "./FitState.ts"
import { makeFitWork } from "./FitWork.ts"
import { makePassWork } from "./PassWork.ts"
import { makeReadState } from "./ReadState.ts"
import { makeReadWork } from "./ReadWork.ts"
import { makeRecordWork } from "./RecordWork.ts"
import { makeReferenceWork } from "./ReferenceWork.ts"
import { makeRoundWork } from "./RoundWork.ts"
import { makeSearchWork } from "./SearchWork.ts"
import { makeSelectWork } from "./SelectWork.ts"
import { makeIssueCodeWork } from "./IssueCodeWork.ts"
import { settleWork } from "./SettleWork.ts"
import { textWork } from "./TextWork.ts"

export const makeChangeWork = () => {
  const read = makeReadState()
  const fit = makeFitState()
  return {
    ...makeSelectWork(read),
    ...makeReadWork(read),
    ...makeBinaryWork(read),
    ...makeCarryWork(read),
    ...makeCommitWork(read),
    ...makeFitWork(read, fit),
    ...makeDefinitionWork(fit),
    ...makeCompressWork(fit),
    ...makeBlindWork(read, fit),
    ...makePassWork(read, fit),
    ...makeFindWork(read, fit),
    ...makeRoundWork(read, fit),
    ...makeEvidenceWork(read),
    ...makeRecordWork(),
    ...makeReferenceWork(read),
    ...makeSearchWork(),
    ...makeIssueCodeWork(read),
    ...settleWork,
    ...textWork
  }
}

export type ChangeWork = ReturnType<typeof makeChangeWork>
