package dev.holdfast.era.south;

/** The revisions that a server speaks. */
public enum Era {
  /** Found out when sessions open. */
  AUTO,
  /** With sessions, until 2025-11-25. */
  OLD,
  /** Without sessions, since 2026-07-28. */
  NEW
}
