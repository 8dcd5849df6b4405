/**
 * All functions that compute with the text of a change, over the data of one change that only they hold: plain and synchronous, run in a
 * thread of `src/engine/threads`. Nothing here loads Effect, which a thread would pay for at its start.
 */
import { makeFindWork } from "./FindWork.ts"
import { makeFitWork } from "./FitWork.ts"
import { makePassWork } from "./PassWork.ts"
import { makeReadWork } from "./ReadWork.ts"
import { makeRecordWork } from "./RecordWork.ts"
import { textWork } from "./TextWork.ts"

export const makeChangeWork = () => {
  const read = makeReadWork()
  const fit = makeFitWork(read.state)
  return {
    ...read.work,
    ...fit.work,
    ...makePassWork(read.state, fit.state),
    ...makeFindWork(read.state),
    ...makeRecordWork(),
    ...textWork
  }
}

export type ChangeWork = ReturnType<typeof makeChangeWork>
