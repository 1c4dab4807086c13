package dev.holdfast.testing;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets threads pass while it is open and keeps them waiting while it is shut. */
final class Gate {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition opened = lock.newCondition();
  private boolean shut;

  void shut() {
    lock.lock();
    try {
      shut = true;
    } finally {
      lock.unlock();
    }
  }

  void open() {
    lock.lock();
    try {
      shut = false;
      opened.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void pass() {
    lock.lock();
    try {
      while (shut) {
        opened.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }
}
