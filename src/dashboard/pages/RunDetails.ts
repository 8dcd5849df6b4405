/** A run with everything that is stored about it. */
import type { Output } from "../client/Endpoints.ts"

export type RunDetails = Output<"GET /runs/:id">
