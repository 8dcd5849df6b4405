/** Values of the API that need a text: one that is added to the domain without a text does not compile. */
import type { ConfigConflict, ConfigForbidden, ConfigNotFound } from "../../admin/api/ConfigProblems.ts"
import type * as Problems from "../../admin/api/Problems.ts"
import type { BatchStatus, MemberStatus } from "../../domain/Batch.ts"
import type { SkipReason } from "../../domain/Coverage.ts"
import type { ChatConnectionState } from "../../domain/ChatHealth.ts"
import type { ChatRequestStatus } from "../../domain/ChatRequest.ts"
import type { EventDecision, EventOutcome, IgnoreReason, RejectReason } from "../../domain/Decision.ts"
import type { EntryStatus } from "../../domain/Entry.ts"
import type { FindingState } from "../../domain/FindingState.ts"
import type { NoticeKind, NoticeStatus } from "../../domain/Notice.ts"
import type { Target } from "../../domain/Change.ts"
import type { Severity } from "../../domain/Kinds.ts"
import type { Operation, PublicationStatus } from "../../domain/Publication.ts"
import type { RunStatus } from "../../domain/Run.ts"
import type { PageKey } from "../../text/Render.ts"

type Reason = IgnoreReason | RejectReason
/** Codes of every error of the API, apart from those of refused edits, which have a message of their own. */
type Code = (
  | ConfigConflict
  | ConfigForbidden
  | ConfigNotFound
  | Problems.BadRequest
  | Problems.Forbidden
  | Problems.MethodNotAllowed
  | Problems.NotFound
  | Problems.PayloadTooLarge
  | Problems.StateConflict
  | Problems.TooManyRequests
  | Problems.Unauthorized
  | Problems.Unavailable
  | Problems.UnsupportedMediaType
)["code"]

type Needed =
  | `problem.${Code}`
  | `target.${Target["kind"]}`
  | `reason.${Reason}`
  | `why.${Reason | EventDecision | EventOutcome}`
  | `decision.${EventDecision}`
  | `outcome.${EventOutcome}`
  | `run.${RunStatus}`
  | `entry.${EntryStatus}`
  | `batch.${BatchStatus}`
  | `member.${MemberStatus}`
  | `publication.${PublicationStatus}`
  | `operation.${Operation["_tag"]}`
  | `severity.${Severity}`
  | `finding.${FindingState}`
  | `skip.${SkipReason}`
  | `chat.${ChatConnectionState}`
  | `request.${ChatRequestStatus}`
  | `notice.${NoticeKind | NoticeStatus}`

/** Decisions and outcomes that a reason or a status explains. */
type Explained = "why.executed" | "why.ignored" | "why.rejected"

type Missing = Exclude<Needed, PageKey | Explained>

/** Names the missing keys in the error of the compiler. */
export const isComplete: [Missing] extends [never] ? true : Missing = true
