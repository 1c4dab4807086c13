package dev.holdfast.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The valid values of a configuration key that is a number or a duration. The start refuses others.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Range {

  /** The least value, as in the configuration: {@code 1}, {@code 10ms}. */
  String min();

  /** The greatest value, as in the configuration. */
  String max();
}
