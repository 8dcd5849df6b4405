/**
 * Sequences that found a difference between a store and the model, shrunk, each with the rule that was broken; every store runs them before
 * the random ones. The test prints a new one in this format.
 */
import type { Step } from "./QueueSteps.ts"

export interface Case {
  /** The rule. */
  readonly what: string
  readonly steps: ReadonlyArray<Step>
}

export const cases: ReadonlyArray<Case> = [
  {
    what: "a lease whose token is old is refused",
    steps: [
      {
        _tag: "Admit",
        items: [{ target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }]
      },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      { _tag: "Finish", lease: 0, how: "Back" },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      { _tag: "Finish", lease: 3, how: "Done" }
    ]
  },
  {
    what: "one review of a target at a time",
    steps: [
      {
        _tag: "Admit",
        items: [{ target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }]
      },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      {
        _tag: "Admit",
        items: [
          { target: 0, head: "b", event: 1, delay: -5, priority: 0, person: false, expires: undefined },
          { target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }
        ]
      },
      { _tag: "Release", entry: 2 }
    ]
  },
  {
    what: "nothing is released before it is due",
    steps: [
      {
        _tag: "Admit",
        items: [{ target: 0, head: "a", event: 0, delay: 10, priority: 0, person: false, expires: undefined }]
      },
      { _tag: "Release", entry: 0 }
    ]
  },
  {
    what: "nothing joins an entry that is to be cancelled",
    steps: [
      {
        _tag: "Admit",
        items: [{ target: 2, head: "b", event: 0, delay: -5, priority: 0, person: false, expires: undefined }]
      },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      { _tag: "Cancel", target: 2 },
      {
        _tag: "Admit",
        items: [
          { target: 2, head: "b", event: 1, delay: -5, priority: 0, person: false, expires: undefined },
          { target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }
        ]
      }
    ]
  },
  {
    what: "what is to be cancelled does not wait again",
    steps: [
      {
        _tag: "Admit",
        items: [{ target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }]
      },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      { _tag: "CancelEntry", entry: 0 },
      { _tag: "Finish", lease: 0, how: "Retry" }
    ]
  },
  {
    what: "an entry that would wait again yields to a newer one, which answers for its events",
    steps: [
      {
        _tag: "Admit",
        items: [{ target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }]
      },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      {
        _tag: "Admit",
        items: [{ target: 0, head: undefined, event: 1, delay: -5, priority: 0, person: false, expires: undefined }]
      },
      { _tag: "Finish", lease: 0, how: "Back" }
    ]
  },
  {
    what: "a newer head keeps its place in line",
    steps: [
      {
        _tag: "Admit",
        items: [{ target: 0, head: "b", event: 1, delay: -5, priority: 0, person: false, expires: undefined }]
      },
      { _tag: "Pass", millis: 1 },
      {
        _tag: "Admit",
        items: [{ target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }]
      }
    ]
  },
  {
    what: "what may not expire keeps it from whom it joins",
    steps: [
      {
        _tag: "Admit",
        items: [
          { target: 0, head: "a", event: 0, delay: -5, priority: 20, person: false, expires: undefined },
          { target: 0, head: "a", event: 1, delay: -5, priority: 0, person: false, expires: undefined },
          { target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }
        ]
      }
    ]
  },
  {
    what: "a backoff is cut short only by a person",
    steps: [
      {
        _tag: "Admit",
        items: [{ target: 1, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }]
      },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      { _tag: "Finish", lease: 0, how: "Retry" },
      {
        _tag: "Admit",
        items: [{ target: 1, head: "a", event: 1, delay: -5, priority: 0, person: false, expires: undefined }]
      }
    ]
  },
  {
    what: "a dead entry is not tried again beside a newer one",
    steps: [
      {
        _tag: "Admit",
        items: [{ target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }]
      },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      {
        _tag: "Admit",
        items: [
          { target: 0, head: "c", event: 1, delay: -5, priority: 0, person: false, expires: undefined },
          { target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }
        ]
      },
      { _tag: "Finish", lease: 0, how: "Dead" },
      { _tag: "RetryDead", entry: 0 }
    ]
  },
  {
    what: "a handed-back lease costs no attempt",
    steps: [
      {
        _tag: "Admit",
        items: [{ target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }]
      },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      { _tag: "Finish", lease: 0, how: "Back" }
    ]
  },
  {
    what: "a person's wish outlives the entry it was said to",
    steps: [
      {
        _tag: "Admit",
        items: [{ target: 1, head: "b", event: 0, delay: -5, priority: 0, person: "ada", expires: undefined }]
      },
      {
        _tag: "Admit",
        items: [
          { target: 1, head: "a", event: 1, delay: -5, priority: 0, person: false, expires: undefined },
          { target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }
        ]
      }
    ]
  },
  {
    what: "an entry that keeps losing its workers is dead",
    steps: [
      {
        _tag: "Admit",
        items: [{ target: 0, head: "a", event: 0, delay: -5, priority: 0, person: false, expires: undefined }]
      },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      { _tag: "Reclaim", owner: 0 },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      { _tag: "Reclaim", owner: 0 },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      { _tag: "Reclaim", owner: 0 },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      { _tag: "Reclaim", owner: 0 },
      { _tag: "Release", entry: 0 },
      { _tag: "Claim", entry: 0 },
      { _tag: "Reclaim", owner: 0 },
      { _tag: "RetryDead", entry: 0 }
    ]
  }
]
