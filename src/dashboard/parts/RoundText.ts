/** Selects the text about the relation of a finding to earlier rounds, the same on every page. Pure. */

interface RoundState {
  readonly kind: "new" | "late" | "carried"
  readonly since: number
}

/** Returns the name of the text, of the group `finding.round`; undefined without an earlier round, and for a finding that one reported. */
export const shownRound = (round: RoundState | undefined): "late" | "new" | undefined =>
  round === undefined || round.kind === "carried" || round.since < 2 ? undefined : round.kind
