/** The messages between the service's thread and a thread that analyses changes. */
import type { VocabularyData } from "../../review/Vocabulary.ts"
import type { ChangeWork } from "../work/ChangeWork.ts"

export type WorkName = keyof ChangeWork
export type WorkInput<N extends WorkName> = Parameters<ChangeWork[N]>
export type WorkResult<N extends WorkName> = ReturnType<ChangeWork[N]>

/** Starts one function of `ChangeWork`. A thread gets one at a time; `close` drops the change. */
export type ThreadRequest =
  | { readonly id: number; readonly name: WorkName; readonly input: ReadonlyArray<unknown> }
  | { readonly name: "close" }

export type ThreadResponse =
  /** The change is dropped; so much memory is held still, garbage included. `isSlow`: the thread keeps a low priority. */
  | { readonly name: "closed"; readonly heldBytes: number; readonly isSlow: boolean }
  /** The thread has read the vocabulary, which is in shared memory. */
  | { readonly name: "vocabulary"; readonly vocabulary: VocabularyData }
  | { readonly id: number; readonly value: unknown }
  /** The function threw: a fault of the program. */
  | { readonly id: number; readonly error: string }

export interface ThreadData {
  /** Folder of compiled code; undefined where the process keeps none. */
  readonly compileCache: string | undefined
  /** Undefined where no thread has read it yet. */
  readonly vocabulary: VocabularyData | undefined
}
