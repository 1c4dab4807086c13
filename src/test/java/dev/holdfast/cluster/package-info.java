@NullMarked
package dev.holdfast.cluster;

import org.jspecify.annotations.NullMarked;
