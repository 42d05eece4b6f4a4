/** Functions of the sandbox process. The modules of a program never see them. */
export interface Bridge {
  /** Runs a function of the process synchronously. Null for programs that are not handlers. */
  native: Native | null;
  /** Reference to the function that waits. Null for programs that are not handlers. */
  sleep: { apply(receiver: undefined, args: readonly unknown[], options: object): Promise<void> } | null;
  log(level: string, text: string): void;
  /** Ends the program, which exceeds a limit. */
  exceed(reason: string, message: string): void;
  /** Reference to the function that runs a host call. */
  call: {
    apply(receiver: undefined, args: readonly unknown[], options: object): Promise<unknown>;
    applySyncPromise(receiver: undefined, args: readonly unknown[], options: object): unknown;
  };
}

/** Runs a function of native-functions.ts by its name. Null stands for a failure. */
export type Native = (name: string, ...args: unknown[]) => unknown;

/** Limits that are checked inside the isolate, before anything crosses to the process. */
export interface GuestLimits {
  /** Names of the host calls. */
  calls: readonly string[];
  hostCalls: number;
  hostBytes: number;
  callsAtOnce: number;
  logBytes: number;
  outputBytes: number;
  messageCharacters: number;
}
