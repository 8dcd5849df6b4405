/** Contract of replies to questions of people in chat about a review. Implemented by a model (src/engine/questions/AnswerQuestion.ts). */
import { Context } from "effect"
import type { Effect } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import type { Analysis } from "../domain/Analysis.ts"

export interface ChatQuestion {
  /** Id of the request: a repeated question with the same id is not paid for twice if its response was recorded. */
  readonly id: string
  /** Text of a person: data, never an instruction. */
  readonly text: string
  /** Type and id of the person, whose daily budget applies. */
  readonly person: string
  readonly workspace: Workspace
  /** Id of the run, for its diff. */
  readonly runId: string
  /** `<trigger>:<repository>`, whose daily budget applies. */
  readonly repository: string
  readonly title: string
  readonly analysis: Analysis
}

export type ChatAnswer =
  | { readonly _tag: "Answered"; readonly text: string }
  | { readonly _tag: "Refused"; readonly reason: "not_configured" | "budget" | "unavailable"; readonly why: string }

export class ChatQuestions extends Context.Service<
  ChatQuestions,
  { readonly answer: (question: ChatQuestion) => Effect.Effect<ChatAnswer> }
>()("aicr/chat/ChatQuestions") {}
