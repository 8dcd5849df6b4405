/** A call of a coding agent that is refused, with its reason. It is the reply of the tool, and the agent corrects the call or ends. */
import { Schema } from "effect"
import { Reason } from "../../domain/Reason.ts"

export class AgentRefusal extends Schema.TaggedError<AgentRefusal>()("AgentRefusal", { why: Reason }) {}
