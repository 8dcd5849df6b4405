/** A line of stdin of `Inside.ts`, as JSON behind `jobPrefix`: what to start, and where the two ports lead. */
export interface Job {
  /** Begins the lines of stderr that belong to `Inside.ts`, so that they differ from those of the program. */
  readonly nonce: string
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
  readonly stdin: string | undefined
  /** Paths are relative to `scratch`. */
  readonly files: ReadonlyArray<{ readonly path: string; readonly text: string }>
  readonly repository: string
  readonly scratch: string
  readonly forwards: ReadonlyArray<{ readonly port: number; readonly socket: string }>
  /** Whether the control group of the sandbox is visible inside, and its counters have to be watched there. */
  readonly watchesCgroup: boolean
  /** Processes and threads above which the program is ended, where nothing outside limits them. */
  readonly maxTasks: number | undefined
}

/** Report of `Inside.ts` at its end: how the program ended, or which limit it exceeded, or why it did not start. */
export interface JobReport {
  readonly code?: number
  readonly limit?: "memory" | "processes"
  readonly failure?: string
}
